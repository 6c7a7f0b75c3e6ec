#include "base/stats/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace debrief {

namespace {

// The two values in the middle, the same one twice of an odd number; reorders `values`, not empty.
template <typename T>
std::pair<T, T> MiddleOf(std::span<T> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return {*middle, *middle};
  return {*std::max_element(values.begin(), middle), *middle};
}

}  // namespace

int64_t Median(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  auto [lower, upper] = MiddleOf(std::span(values));
  return lower + (upper - lower) / 2;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  auto [lower, upper] = MiddleOf(std::span(values));
  return (lower + upper) / 2;
}

int64_t Quantile(std::vector<int64_t> values, double share) {
  if (values.empty()) return 0;
  auto at = static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * share);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
}

double WeightedMedian(std::vector<std::pair<double, double>> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  double all = 0, below = 0;
  for (const auto& [value, weight] : values) all += weight;
  for (const auto& [value, weight] : values) {
    below += weight;
    if (below >= all / 2) return value;
  }
  return values.back().first;
}

int64_t MedianDeviation(const std::vector<int64_t>& values) {
  int64_t median = Median(values);
  std::vector<int64_t> distances;
  distances.reserve(values.size());
  for (int64_t value : values) distances.push_back(std::abs(value - median));
  return Median(std::move(distances));
}

int64_t MeanDeviation(const std::vector<int64_t>& values) {
  if (values.empty()) return 0;
  int64_t median = Median(values);
  double sum = 0;
  for (int64_t value : values) sum += std::abs(static_cast<double>(value - median));
  return static_cast<int64_t>(sum / static_cast<double>(values.size()));
}

double MedianSlope(std::span<const Point> points) {
  std::vector<double> slopes;
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      if (points[i].x == points[j].x) continue;
      slopes.push_back(static_cast<double>(points[j].y - points[i].y) /
                       static_cast<double>(points[j].x - points[i].x));
    }
  }
  return Median(std::move(slopes));
}

Summary Summarise(std::span<int64_t> values) {
  Summary summary;
  if (values.empty()) return summary;
  summary.count = static_cast<int64_t>(values.size());
  auto [min, max] = std::minmax_element(values.begin(), values.end());
  summary.min = *min;
  summary.max = *max;
  for (int64_t value : values) summary.total += value;
  const auto count = static_cast<double>(summary.count);
  summary.mean = static_cast<double>(summary.total) / count;
  auto [lower, upper] = MiddleOf(values);
  summary.median = (static_cast<double>(lower) + static_cast<double>(upper)) / 2;
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
