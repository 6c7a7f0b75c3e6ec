// One op: how its parts are set, and what its output takes: the product of its dims, times the
// bytes of an element.
#include <cmath>
#include <iterator>
#include <limits>

#include "debrief/op_trace.hpp"

namespace debrief::op_trace {

Entry& Entry::WithDevice(std::string name) {
  device = std::move(name);
  return *this;
}

Entry& Entry::WithInputShapes(std::vector<Shape> shapes) {
  input_shapes = std::move(shapes);
  return *this;
}

Entry& Entry::WithOutputShape(Shape shape, Dtype type, Behaviour behaviour) {
  const OutputSize size = SizeOfOutput(&shape, type, behaviour);
  output_shape = std::move(shape);
  dtype = type;
  output_elements = size.elements;
  memory_bytes = size.bytes;
  memory_assumed = size.assumed;
  return *this;
}

Entry& Entry::WithDuration(int64_t ns) {
  duration_ns = ns;
  return *this;
}

Entry& Entry::WithDurationUs(double us) {
  constexpr double kLongestUs = 9e15;  // what fits int64 nanoseconds: 285 years
  const bool known = std::isfinite(us) && std::abs(us) <= kLongestUs;
  duration_ns = known ? std::optional(std::llround(us * 1000)) : std::nullopt;
  return *this;
}

double Entry::DurationUs() const {
  return duration_ns ? static_cast<double>(*duration_ns) / 1000
                     : std::numeric_limits<double>::quiet_NaN();
}

double Entry::ElementsPerUs(Behaviour behaviour) const {
  if (!duration_ns && behaviour == Behaviour::kReference) return DurationUs();
  if (!duration_ns || *duration_ns <= 0) return 0;
  return static_cast<double>(output_elements) / DurationUs();
}

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

// Wraps around in kReference.
uint64_t Multiply(uint64_t a, uint64_t b, Behaviour behaviour, bool& saturated) {
  uint64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product) || behaviour == Behaviour::kReference) return product;
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

OutputSize SizeOfOutput(const Shape* shape, Dtype dtype, Behaviour behaviour) {
  OutputSize size;
  if (shape == nullptr || HasZero(*shape)) return size;
  const bool knows_type = DtypeBytes(dtype) != 0 && behaviour == Behaviour::kCorrect;
  size.assumed = !knows_type;
  size.elements = 1;
  for (const uint64_t dim : *shape)
    size.elements = Multiply(size.elements, dim, behaviour, size.saturated);
  size.bytes = Multiply(size.elements, knows_type ? DtypeBytes(dtype) : kAssumedBytes, behaviour,
                        size.saturated);
  return size;
}

}  // namespace debrief::op_trace
