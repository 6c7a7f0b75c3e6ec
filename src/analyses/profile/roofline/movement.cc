// Softmax and losses, and ops that only move data.
#include <algorithm>
#include <cstdint>

#include "analyses/profile/roofline/families.h"
#include "base/text/strings.h"

namespace debrief::analyses::profile_roofline {

namespace {

// Reads logits of the targets alone; the backward writes a gradient for every one.
Work NegativeLogLikelihood(const OpModel& model, const OpArgs& args) {
  const bool is_backward = model.name.ends_with("_backward");
  const size_t logits = is_backward ? 1 : 0;
  const int64_t width = BytesOfType(args.TypeOf(logits)), targets = args.Elements(logits + 1);
  if (width == 0 || !args.IsTensor(logits)) return std::nullopt;
  const int64_t indices = args.StoredBytes(logits + 1), weights = args.StoredBytes(logits + 2);
  if (is_backward)
    return OpWork{.flops = targets, .bytes = args.Elements(logits) * width + indices + weights};
  return OpWork{.flops = targets, .bytes = targets * width + indices + weights + width};
}

// Losses of two tensors of the same shape; reduced to one number unless the argument says 0.
Work LossOfPairs(const OpModel& model, const OpArgs& args) {
  const bool is_backward = model.name.ends_with("_backward");
  const size_t first = is_backward ? 1 : 0;
  const int64_t n = args.Elements(first), width = BytesOfType(args.TypeOf(first));
  if (width == 0) return std::nullopt;
  const size_t reduction = model.name.starts_with("aten::binary") ? first + 3 : first + 2;
  const bool keeps_all = is_backward || args.ValueOf(reduction) == "0";
  OpWork work{.flops = 3 * n};
  for (size_t i = 0; i < first + 2; ++i) work.bytes += args.StoredBytes(i);
  work.bytes += (keeps_all ? n : 1) * width;
  return work;
}

}  // namespace

Work SoftmaxWork(const OpModel& model, const OpArgs& args) {
  const int64_t n = args.Elements(0), width = BytesOfType(args.TypeOf(0));
  if (width == 0) return std::nullopt;
  if (model.name.ends_with("backward_data")) return OpWork{.flops = 4 * n, .bytes = 3 * n * width};
  const int64_t out = args.IsTrue(2) ? 4 : width;
  return OpWork{.flops = 5 * n, .bytes = n * (width + out)};
}

Work LossWork(const OpModel& model, const OpArgs& args) {
  if (model.name == "CrossEntropyFunction") {
    const Dims& logits = args.DimsOf(0);
    const int64_t width = BytesOfType(args.TypeOf(0));
    if (logits.empty() || width == 0) return std::nullopt;
    const int64_t n = ProductOf(logits);
    return OpWork{.flops = 5 * n, .bytes = n * width + 12 * (n / logits.back())};
  }
  return model.name.starts_with("aten::nll") ? NegativeLogLikelihood(model, args)
                                             : LossOfPairs(model, args);
}

// The gradient of a table is set to 0, then rows are added: read and written.
Work EmbeddingWork(const OpModel& model, const OpArgs& args) {
  const Dims& first = args.DimsOf(0);
  const int64_t width = BytesOfType(args.TypeOf(0)), n = args.Elements(1);
  if (first.size() < 2 || width == 0) return std::nullopt;
  const int64_t row = ProductOf({n, first.back(), width});
  if (row == 0 || row > kMostWork) return std::nullopt;
  const int64_t indices = args.StoredBytes(1);
  if (model.name == "aten::embedding")
    return first.size() == 2 ? std::optional(OpWork{.bytes = indices + 2 * row}) : std::nullopt;
  const Dims rows = NumbersOf(args.ValueOf(2));
  if (rows.empty() || rows[0] <= 0 || rows[0] > int64_t{1} << 31) return std::nullopt;
  const int64_t table = ProductOf({rows[0], first.back(), width});
  if (table > kMostWork) return std::nullopt;
  return OpWork{.flops = row / width, .bytes = 3 * row + indices + table};
}

Work MovementWork(const OpModel& model, const OpArgs& args, const CallFacts& facts) {
  if (model.name == "aten::cat") {
    const int64_t moved = args.ListElements(0);
    const int64_t width = BytesByKernel(facts.kernel);
    if (moved <= 0 || moved > kMostWork / 64 || width == 0) return std::nullopt;
    return OpWork{.bytes = 2 * moved * width};
  }
  const int64_t width = BytesOfType(args.TypeOf(0)), indices = args.Elements(model.dim);
  if (width == 0 || !args.IsTensor(model.dim)) return std::nullopt;
  int64_t moved = indices;  // gather: one element for each index
  if (model.name == "aten::index_select") {
    const Dims& shape = args.DimsOf(0);
    const Dims dim = NumbersOf(args.ValueOf(1));
    if (dim.empty() || shape.empty()) return std::nullopt;
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t at = dim[0] < 0 ? dim[0] + rank : dim[0];
    if (at < 0 || at >= rank) return std::nullopt;
    moved = ProductOf({args.Elements(0) / shape[static_cast<size_t>(at)], indices});
  }
  if (moved > kMostWork / 64) return std::nullopt;
  return OpWork{.bytes = 2 * moved * width + args.StoredBytes(model.dim)};
}

int64_t BytesByKernel(std::string_view kernel) {
  const size_t opaque = kernel.find("OpaqueType<");
  if (opaque != std::string_view::npos) {
    const Dims width = NumbersOf(kernel.substr(opaque + 11, 4));
    return width.empty() || width[0] > 16 ? 0 : width[0];
  }
  if (Contains(kernel, "BFloat16") || Contains(kernel, "c10::Half")) return 2;
  if (Contains(kernel, "double") || Contains(kernel, "<long")) return 8;
  if (Contains(kernel, "float")) return 4;
  return 0;
}

}  // namespace debrief::analyses::profile_roofline
