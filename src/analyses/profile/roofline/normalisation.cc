// Normalisation by batch, layer, group and root mean square, and its gradients.
#include <algorithm>
#include <cstdint>

#include "analyses/profile/roofline/families.h"

namespace debrief::analyses::profile_roofline {

namespace {

enum class NormKind : uint8_t { kBatch, kLayer, kGroup, kRootMeanSquare };

NormKind NormKindOf(std::string_view name) {
  if (name.find("rms") != std::string_view::npos) return NormKind::kRootMeanSquare;
  if (name.find("layer") != std::string_view::npos) return NormKind::kLayer;
  return name.find("group") != std::string_view::npos ? NormKind::kGroup : NormKind::kBatch;
}

// What is normalised, and how many values share a mean.
struct NormShape {
  NormKind kind = NormKind::kBatch;
  int64_t n = 0;         // elements
  int64_t channels = 0;  // elements of a parameter
  int64_t groups = 0;    // means that are computed
  int64_t width = 0;     // bytes of an element
};

std::optional<NormShape> NormShapeOf(const OpModel& model, const OpArgs& args) {
  const Dims& x = args.DimsOf(model.first);
  NormShape shape{.kind = NormKindOf(model.name), .n = ProductOf(x)};
  shape.width = BytesOfType(args.TypeOf(model.first));
  if (x.empty() || shape.n == 0 || shape.width == 0) return std::nullopt;
  const bool spans_last = shape.kind == NormKind::kLayer || shape.kind == NormKind::kRootMeanSquare;
  const Dims told = NumbersOf(args.ValueOf(model.dim));
  shape.channels = spans_last ? ProductOf(told) : x.size() > 1 ? x[1] : x[0];
  if (shape.channels <= 0 || shape.channels > shape.n) return std::nullopt;
  if (spans_last) shape.groups = shape.n / shape.channels;
  if (shape.kind == NormKind::kBatch) shape.groups = shape.channels;
  if (shape.kind == NormKind::kGroup) {
    if (told.empty() || told[0] <= 0 || told[0] > shape.channels) return std::nullopt;
    shape.groups = ProductOf({x[0], told[0]});
  }
  if (model.name == "aten::instance_norm") shape.groups = ProductOf({x[0], shape.channels});
  return shape;
}

Work ParityNorm(const NormShape& shape) {
  const auto& [kind, n, channels, groups, width] = shape;
  if (kind == NormKind::kRootMeanSquare) {
    return OpWork{.flops = n / channels * (2 * channels + 2) + 2 * n,
                  .bytes = (2 * n + channels) * width};
  }
  return OpWork{.flops = 5 * n + 6 * channels, .bytes = (2 * n + 6 * channels) * width};
}

// Of cuDNN and MIOpen TraceLens takes the backward for one without statistics.
Work ParityNormBackward(const OpModel& model, const OpArgs& args, const NormShape& shape) {
  const bool is_vendor = model.mask == kNoArgument;
  int64_t channels = shape.channels;
  if (shape.kind == NormKind::kGroup) {
    const Dims told = NumbersOf(args.ValueOf(model.dim));
    channels /= std::max<int64_t>(1, told.empty() ? 1 : told[0]);
  }
  if (shape.kind == NormKind::kRootMeanSquare) {
    return OpWork{.flops = 10 * shape.n, .bytes = (3 * shape.n + 2 * channels) * shape.width};
  }
  if (is_vendor) {
    return OpWork{.flops = 4 * shape.n + 3 * channels,
                  .bytes = (2 * shape.n + channels) * shape.width};
  }
  return OpWork{.flops = 9 * shape.n, .bytes = (3 * shape.n + 4 * channels) * shape.width};
}

}  // namespace

Work NormWork(const OpModel& model, const OpArgs& args, Definition definition) {
  const auto shape = NormShapeOf(model, args);
  if (!shape) return std::nullopt;
  if (definition == Definition::kTraceLens) return ParityNorm(*shape);
  const int64_t n = shape->n, channels = shape->channels;
  OpWork work{.bytes = 2 * n * shape->width + args.StoredBytes(model.bias)};
  if (shape->kind == NormKind::kRootMeanSquare) {
    work.flops = 4 * n + 2 * shape->groups;
    work.bytes += 4 * shape->groups;
    return work;
  }
  work.bytes += args.StoredBytes(model.bias + 1);
  const bool has_running = shape->kind == NormKind::kBatch;
  const bool is_of_batch = !has_running || args.IsTrue(model.causal);
  const int64_t running =
      has_running ? args.StoredBytes(model.bias + 2) + args.StoredBytes(model.bias + 3) : 0;
  // Without statistics of the batch the running ones are read; with them they are read and written.
  work.flops = is_of_batch ? 5 * n + 6 * channels : 2 * n + 4 * channels;
  work.bytes += is_of_batch ? 2 * running + 8 * shape->groups : running;
  return work;
}

Work NormBackwardWork(const OpModel& model, const OpArgs& args, Definition definition) {
  const auto shape = NormShapeOf(model, args);
  if (!shape) return std::nullopt;
  if (definition == Definition::kTraceLens) return ParityNormBackward(model, args, *shape);
  const auto wanted = ElementsOf(args.ValueOf(model.mask));
  auto is_wanted = [&](size_t gradient) {
    return gradient >= wanted.size() ? wanted.empty() : wanted[gradient] == "True";
  };
  const int64_t n = shape->n;
  const bool is_rms = shape->kind == NormKind::kRootMeanSquare;
  const bool is_training = model.causal == kNoArgument || args.IsTrue(model.causal);
  const int64_t weight = args.StoredBytes(model.bias);
  OpWork work;
  // Reads dy and x, the weight and the statistics; writes dx and the gradients of parameters.
  work.bytes =
      (is_wanted(0) ? 3 : 2) * n * shape->width + weight + (is_rms ? 4 : 8) * shape->groups;
  if (is_wanted(1)) work.bytes += weight;
  if (is_rms) {
    work.flops = 8 * n + (is_wanted(1) ? 2 * n : 0);
    return work;
  }
  if (is_wanted(2)) work.bytes += weight;
  work.flops = is_training ? (is_wanted(0) ? 9 : 6) * n : 4 * n + 3 * shape->channels;
  return work;
}

}  // namespace debrief::analyses::profile_roofline
