// What an output takes: the product of its dims, times the bytes of an element.
#include <iterator>
#include <limits>

#include "debrief/op_trace.hpp"

namespace debrief::op_trace {
namespace {

struct DtypeFacts {
  std::string_view name;
  unsigned bytes;
};

// By the number of Dtype.
constexpr DtypeFacts kDtypes[] = {
    {"", 0},        {"bool", 1},      {"uint8", 1},       {"int8", 1},        {"int16", 2},
    {"int32", 4},   {"int64", 8},     {"float16", 2},     {"bfloat16", 2},    {"float32", 4},
    {"float64", 8}, {"complex64", 8}, {"complex128", 16}, {"float8_e4m3", 1}, {"float8_e5m2", 1}};

constexpr unsigned kAssumedBytes = 8;

const DtypeFacts& FactsOf(Dtype dtype) {
  const auto number = static_cast<size_t>(dtype);
  return kDtypes[number < std::size(kDtypes) ? number : 0];
}

// Wraps around in kCompat.
uint64_t Multiply(uint64_t a, uint64_t b, Corners corners, bool& saturated) {
  uint64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product) || corners == Corners::kCompat) return product;
  saturated = true;
  return std::numeric_limits<uint64_t>::max();
}

bool HasZero(const Shape& shape) {
  for (const uint64_t dim : shape) {
    if (dim == 0) return true;
  }
  return false;
}

}  // namespace

std::string_view DtypeName(Dtype dtype) { return FactsOf(dtype).name; }
unsigned DtypeBytes(Dtype dtype) { return FactsOf(dtype).bytes; }

OutputSize SizeOfOutput(const Shape* shape, Dtype dtype, Corners corners) {
  OutputSize size;
  if (shape == nullptr || HasZero(*shape)) return size;
  const bool knows_type = DtypeBytes(dtype) != 0 && corners == Corners::kRight;
  size.assumed = !knows_type;
  size.elements = 1;
  for (const uint64_t dim : *shape)
    size.elements = Multiply(size.elements, dim, corners, size.saturated);
  size.bytes = Multiply(size.elements, knows_type ? DtypeBytes(dtype) : kAssumedBytes, corners,
                        size.saturated);
  return size;
}

}  // namespace debrief::op_trace
