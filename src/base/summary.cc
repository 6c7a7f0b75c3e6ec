#include "base/summary.h"

#include <algorithm>
#include <cmath>

namespace debrief {

namespace {

double MedianOf(std::span<int64_t> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const auto upper = static_cast<double>(*middle);
  if (values.size() % 2 == 1) return upper;
  return (static_cast<double>(*std::max_element(values.begin(), middle)) + upper) / 2;
}

}  // namespace

Summary Summarise(std::span<int64_t> values) {
  Summary summary;
  if (values.empty()) return summary;
  summary.count = static_cast<int64_t>(values.size());
  summary.min = *std::min_element(values.begin(), values.end());
  summary.max = *std::max_element(values.begin(), values.end());
  for (int64_t value : values) summary.total += value;
  const auto count = static_cast<double>(summary.count);
  summary.mean = static_cast<double>(summary.total) / count;
  summary.median = MedianOf(values);
  if (summary.count < 2) return summary;
  double squares = 0;
  for (int64_t value : values) {
    const double distance = static_cast<double>(value) - summary.mean;
    squares += distance * distance;
  }
  summary.stddev = std::sqrt(squares / (count - 1));
  return summary;
}

}  // namespace debrief
