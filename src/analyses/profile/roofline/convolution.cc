// Convolutions in one to three dimensions, their gradients, and pooling.
#include <algorithm>
#include <cstdint>

#include "analyses/profile/roofline/families.h"

namespace debrief::analyses::profile_roofline {

namespace {

constexpr int64_t kMostOutput = int64_t{1} << 40;

// [batch, channels, spatial...] and the weight [out, in / groups, k...], of a transposed one
// [in, out / groups, k...].
struct Convolution {
  int64_t x = 0, weight = 0, y = 0;  // elements
  int64_t channels_out = 0;
  int64_t per_element = 0;  // multiply-adds for each element of y; of x when transposed
  bool is_transposed = false;

  int64_t Flops() const { return ProductOf({2, per_element, is_transposed ? x : y}); }
};

// One number stands for all dimensions.
int64_t NumberFor(const Dims& numbers, size_t dim, int64_t otherwise) {
  if (numbers.empty()) return otherwise;
  return numbers.size() == 1 ? numbers[0] : dim < numbers.size() ? numbers[dim] : otherwise;
}

// The size of y in one dimension; 0 when the numbers fit no convolution.
int64_t OutputSize(const OpArgs& args, size_t first_value, size_t dim, int64_t x, int64_t kernel,
                   bool is_transposed) {
  auto number = [&](size_t argument, int64_t otherwise) {
    return NumberFor(NumbersOf(args.ValueOf(first_value + argument)), dim, otherwise);
  };
  const int64_t stride = number(0, 1), padding = number(1, 0), dilation = number(2, 1);
  constexpr int64_t kMost = int64_t{1} << 20;
  if (stride <= 0 || stride > kMost || padding < 0 || padding > kMost || dilation <= 0 ||
      dilation > kMost || kernel > kMost || x > kMostOutput)
    return 0;
  const int64_t reach = dilation * (kernel - 1) + 1;
  if (is_transposed) {
    const int64_t more = std::min(std::max<int64_t>(number(4, 0), 0), kMost);
    return std::max<int64_t>(0, (x - 1) * stride - 2 * padding + reach + more);
  }
  return x + 2 * padding < reach ? 0 : (x + 2 * padding - reach) / stride + 1;
}

// Arguments from `first_value` on: stride, padding, dilation, transposed, output padding, groups.
std::optional<Convolution> ConvolutionOf(const OpArgs& args, size_t first, size_t first_value,
                                         Definition definition) {
  const Dims &x = args.DimsOf(first), &weight = args.DimsOf(first + 1);
  if (weight.size() < 3 || (x.size() != weight.size() && x.size() + 1 != weight.size()))
    return std::nullopt;
  Convolution found;
  found.is_transposed = args.IsTrue(first_value + 3);
  found.x = ProductOf(x);
  found.weight = ProductOf(weight);
  found.per_element = found.weight / weight[0];
  const Dims groups = NumbersOf(args.ValueOf(first_value + 5));
  found.channels_out = found.is_transposed ? weight[1] : weight[0];
  const bool parity = definition == Definition::kTraceLens;
  if (found.is_transposed && !parity && !groups.empty() && groups[0] > 0)
    found.channels_out = ProductOf({found.channels_out, groups[0]});
  const bool has_batch = x.size() == weight.size();
  Dims y = {has_batch ? x[0] : 1, found.channels_out};
  for (size_t dim = 0; dim + 2 < weight.size(); ++dim) {
    y.push_back(OutputSize(args, first_value, dim, x[dim + (has_batch ? 2 : 1)], weight[dim + 2],
                           found.is_transposed));
  }
  found.y = ProductOf(y);
  if (found.y <= 0 || found.y > kMostOutput) return std::nullopt;
  return found;
}

}  // namespace

Work ConvolutionWork(const OpModel& model, const OpArgs& args, Definition definition) {
  const auto shape = ConvolutionOf(args, 0, 3, definition);
  const int64_t width = BytesOfType(args.TypeOf(0));
  if (!shape || width == 0) return std::nullopt;
  OpWork work;
  work.flops = work.model_flops = shape->Flops();
  if (work.flops == 0 || work.flops > kMostWork) return std::nullopt;
  if (definition == Definition::kTraceLens) {
    work.bytes = (shape->x + shape->weight + shape->y) * width;
    return work;
  }
  work.bytes = args.StoredBytes(0) + args.StoredBytes(1) + shape->y * width;
  if (args.IsTensor(model.bias)) {
    work.flops += shape->y;
    work.bytes += args.StoredBytes(model.bias);
  }
  return work;
}

// Arguments: dy, x, weight, sizes of the bias, then as the forward; which gradients are wanted.
Work ConvolutionBackwardWork(const OpModel& model, const OpArgs& args, Definition definition) {
  const auto shape = ConvolutionOf(args, 1, 4, definition);
  const int64_t width = BytesOfType(args.TypeOf(1));
  if (!shape || width == 0) return std::nullopt;
  const int64_t product = shape->Flops();
  if (product == 0 || product > kMostWork) return std::nullopt;
  const int64_t one_pass = (shape->x + shape->weight + shape->y) * width;
  if (definition == Definition::kTraceLens)
    return OpWork{.flops = 2 * product, .bytes = 2 * one_pass, .model_flops = 2 * product};
  const auto wanted = ElementsOf(args.ValueOf(model.mask));
  auto is_wanted = [&](size_t gradient) {
    return wanted.size() != 3 ? gradient < 2 : wanted[gradient] == "True";
  };
  OpWork work;
  for (size_t gradient = 0; gradient < 2; ++gradient) {
    if (!is_wanted(gradient)) continue;
    work.model_flops += product;
    work.bytes += one_pass;
  }
  work.flops = work.model_flops;
  if (is_wanted(2)) {
    work.flops += shape->y;
    work.bytes += (shape->y + shape->channels_out) * width;
  }
  return work;
}

// Arguments of a forward: x, kernel, stride, padding, dilation; of a backward: dy, x. Adaptive ones
// tell the size of the output.
Work PoolingWork(const OpModel& model, const OpArgs& args) {
  const bool has_indices = model.name.starts_with("aten::max_");
  const int64_t width = BytesOfType(args.TypeOf(0));
  if (width == 0) return std::nullopt;
  if (model.name.ends_with("_backward")) {
    const int64_t y = args.Elements(0), x = args.Elements(1);
    return OpWork{.flops = y, .bytes = (x + y) * width + (has_indices ? 8 * y : 0)};
  }
  const Dims &x = args.DimsOf(0), numbers = NumbersOf(args.ValueOf(1));
  if (x.size() < 3) return std::nullopt;
  Dims y(x.begin(), x.end() - 2);
  const bool is_adaptive = model.name == "aten::_adaptive_avg_pool2d";
  for (size_t dim = 0; dim < 2; ++dim) {
    const int64_t number = NumberFor(numbers, dim, 0);
    if (number <= 0) return std::nullopt;
    if (is_adaptive) {
      y.push_back(number);
      continue;
    }
    // Without a stride windows do not overlap.
    const bool has_stride = !NumbersOf(args.ValueOf(2)).empty();
    const int64_t size = x[x.size() - 2 + dim];
    y.push_back(has_stride ? OutputSize(args, 2, dim, size, number, false) : size / number);
  }
  const int64_t out = ProductOf(y);
  if (out <= 0 || out > kMostOutput) return std::nullopt;
  return OpWork{.flops = args.Elements(0),
                .bytes = args.StoredBytes(0) + out * (width + (has_indices ? 8 : 0))};
}

}  // namespace debrief::analyses::profile_roofline
