// Ops that do the same for each element, and reductions.
#include <algorithm>
#include <cstdint>

#include "analyses/profile/roofline/families.h"

namespace debrief::analyses::profile_roofline {

namespace {

// What TraceLens takes for the bytes of an element: a number counts, too.
int64_t ParityBytes(std::string_view type) { return type == "Scalar" ? 4 : BytesOfType(type); }

bool IsFloating(std::string_view type) {
  return type == "float" || type == "double" || type.starts_with("c10::");
}

// The shape of both together, aligned at their last dimensions.
Dims BroadcastDims(const Dims& a, const Dims& b) {
  Dims both(std::max(a.size(), b.size()), 1);
  for (size_t i = 1; i <= both.size(); ++i) {
    const int64_t from_a = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t from_b = i <= b.size() ? b[b.size() - i] : 1;
    both[both.size() - i] = from_a == 1 ? from_b : from_a;
  }
  return both;
}

Work ParityBinary(const OpArgs& args) {
  const int64_t n = ProductOf(BroadcastDims(args.DimsOf(0), args.DimsOf(1)));
  const int64_t a = ParityBytes(args.TypeOf(0)), b = ParityBytes(args.TypeOf(1));
  if (a == 0 || b == 0 || n > int64_t{1} << 50) return std::nullopt;
  const bool both = args.IsTensor(0) && args.IsTensor(1);
  const int64_t out = args.IsTensor(2) ? ParityBytes(args.TypeOf(2)) : both ? std::max(a, b) : a;
  return OpWork{.flops = n, .bytes = args.Elements(0) * a + args.Elements(1) * b + n * out};
}

// Bytes of an element of the output: the widest of the tensors; numbers do not widen it. A quotient
// of whole numbers is a float.
int64_t OutputWidth(const OpModel& model, const OpArgs& args) {
  if (model.is_comparison) return 1;
  if (model.is_in_place) return BytesOfType(args.TypeOf(0));
  const size_t first = model.name == "aten::where" ? 1 : 0;
  int64_t widest = 0, widest_number = 0;
  for (size_t i = first; i < model.tensors; ++i) {
    const int64_t width = BytesOfType(args.TypeOf(i));
    (args.IsTensor(i) ? widest : widest_number) =
        std::max(args.IsTensor(i) ? widest : widest_number, width);
  }
  const bool is_quotient = model.name == "aten::div" && !IsFloating(args.TypeOf(0)) &&
                           (!args.IsTensor(1) || !IsFloating(args.TypeOf(1)));
  if (is_quotient) return 4;
  return widest > 0 ? widest : widest_number;
}

// Elements that a reduction leaves.
int64_t LeftOver(const OpModel& model, const OpArgs& args) {
  const Dims& shape = args.DimsOf(0);
  const Dims reduced = NumbersOf(args.ValueOf(model.dim));
  if (reduced.empty()) return 1;
  Dims left = shape;
  const auto rank = static_cast<int64_t>(shape.size());
  for (int64_t dim : reduced) {
    const int64_t at = dim < 0 ? dim + rank : dim;
    if (at >= 0 && at < rank) left[static_cast<size_t>(at)] = 1;
  }
  return ProductOf(left);
}

}  // namespace

Work UnaryWork(const OpModel& model, const OpArgs& args, Definition definition) {
  const int64_t n = args.Elements(0), in = BytesOfType(args.TypeOf(0));
  if (in == 0) return std::nullopt;
  const bool has_other = args.IsTensor(1) && BytesOfType(args.TypeOf(1)) > 0;
  const int64_t other = has_other ? BytesOfType(args.TypeOf(1)) : in;
  OpWork work{.flops = n, .bytes = n * (in + other)};
  if (definition == Definition::kTraceLens) return work;
  const bool is_copy = model.name.starts_with("aten::copy");
  const bool only_writes = model.name == "aten::fill_" || model.name == "aten::zero_" ||
                           model.name == "aten::uniform_" || model.name == "aten::normal_" ||
                           model.name == "aten::bernoulli_";
  if (is_copy) {
    work.bytes = (has_other ? args.Stored(1) * other : 0) + n * in;
    work.flops = 0;
  } else if (only_writes) {
    work = {.flops = 0, .bytes = n * in};
  } else if (model.name == "aten::native_dropout") {
    work.bytes = n * (2 * in + 1);
  } else {
    // The mask of masked_fill, the exponents of pow.
    const int64_t out = model.is_comparison ? 1 : in;
    work.bytes = args.Stored(0) * in + n * out + (has_other ? args.StoredBytes(1) : 0);
  }
  return work;
}

Work BinaryWork(const OpModel& model, const OpArgs& args, Definition definition) {
  if (definition == Definition::kTraceLens) return ParityBinary(args);
  Dims all;
  OpWork work;
  for (size_t i = 0; i < model.tensors; ++i) {
    all = BroadcastDims(all, args.DimsOf(i));
    work.bytes += args.StoredBytes(i);
  }
  const int64_t n = ProductOf(all), out = OutputWidth(model, args);
  if (n > int64_t{1} << 50 || out == 0) return std::nullopt;
  work.flops = n;
  work.bytes += n * out;
  return work;
}

Work ReduceWork(const OpModel& model, const OpArgs& args, Definition definition) {
  const int64_t n = args.Elements(0), width = BytesOfType(args.TypeOf(0));
  if (width == 0) return std::nullopt;
  const bool is_cumulative = model.name.starts_with("aten::cum");
  const bool is_max = model.name == "aten::max" || model.name == "aten::min";
  if (definition == Definition::kTraceLens)
    return OpWork{.flops = n, .bytes = (n + (is_cumulative ? n : 1)) * width};
  // max and min of two tensors are no reductions.
  if (is_max && args.IsTensor(1)) return BinaryWork(model, args, definition);
  const int64_t read = args.Stored(0) * width;
  if (model.name == "aten::sort") return OpWork{.flops = n, .bytes = read + n * (width + 8)};
  if (model.name == "aten::topk") {
    const Dims kept = NumbersOf(args.ValueOf(1)), dim = NumbersOf(args.ValueOf(2));
    const Dims& shape = args.DimsOf(0);
    if (kept.empty() || kept[0] < 0 || kept[0] > n || shape.empty()) return std::nullopt;
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t at = dim.empty() ? rank - 1 : dim[0] < 0 ? dim[0] + rank : dim[0];
    if (at < 0 || at >= rank) return std::nullopt;
    const int64_t out = n / shape[static_cast<size_t>(at)] * kept[0];
    return OpWork{.flops = n, .bytes = read + out * (width + 8)};
  }
  const int64_t out = is_cumulative ? n : LeftOver(model, args);
  OpWork work{.flops = n, .bytes = read + out * width};
  const bool is_test = model.name == "aten::all" || model.name == "aten::any";
  const bool is_index = model.name == "aten::argmax" || model.name == "aten::argmin" ||
                        model.name == "aten::count_nonzero";
  if (is_max && !args.ValueOf(1).empty()) work.bytes += 8 * out;
  if (model.name.ends_with("_mean")) work.bytes += out * width;
  if (is_index) work.bytes += (8 - width) * out;
  if (is_test) work.bytes += (1 - width) * out;
  return work;
}

}  // namespace debrief::analyses::profile_roofline
