#include "base/robust.h"

#include <algorithm>
#include <cstdlib>

namespace debrief {

int64_t Median(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  int64_t below = *std::max_element(values.begin(), middle);
  return below + (*middle - below) / 2;
}

int64_t Quantile(std::vector<int64_t> values, double share) {
  if (values.empty()) return 0;
  auto at = static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * share);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
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
  if (slopes.empty()) return 0;
  auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return *middle;
}

}  // namespace debrief
