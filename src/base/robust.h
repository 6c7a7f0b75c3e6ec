// Statistics that a few wild values do not move: medians, and lines through medians.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace debrief {

// The middle one, of an even number the mean of the two in the middle; 0 of none. Linear.
int64_t Median(std::vector<int64_t> values);

// The value below which `share` (0 to 1) of them lie; 0 of none. Linear.
int64_t Quantile(std::vector<int64_t> values, double share);

// Median distance from the median.
int64_t MedianDeviation(const std::vector<int64_t>& values);

// Mean distance from the median: unlike the median distance, it sees a third that lies elsewhere.
int64_t MeanDeviation(const std::vector<int64_t>& values);

struct Point {
  int64_t x = 0;
  int64_t y = 0;
};

// Median of the slopes between all pairs of points (Theil and Sen); 0 when no two differ in x.
// Quadratic: give it a sample.
double MedianSlope(std::span<const Point> points);

}  // namespace debrief
