// One op: how its parts are set, and what follows from them.
#include <cmath>
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

Entry& Entry::WithOutputShape(Shape shape, Dtype type, Corners corners) {
  const OutputSize size = SizeOfOutput(&shape, type, corners);
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

double Entry::ElementsPerUs(Corners corners) const {
  if (!duration_ns && corners == Corners::kCompat) return DurationUs();
  if (!duration_ns || *duration_ns <= 0) return 0;
  return static_cast<double>(output_elements) / DurationUs();
}

}  // namespace debrief::op_trace
