// Statistics, each computed in one way: medians, quantiles, deviations, lines through medians,
// summaries.
//
// Medians of an even number of values are the mean of the two in the middle; of whole numbers
// rounded towards the lower one. All are linear but for MedianSlope.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace debrief {

// 0 of none.
int64_t Median(std::vector<int64_t> values);
double Median(std::vector<double> values);

// The value below which `share` (0 to 1) of them lie: one of them, no mean; 0 of none.
int64_t Quantile(std::vector<int64_t> values, double share);

// The value at which half of the weight is reached; 0 of none. Pairs of value and weight.
double WeightedMedian(std::vector<std::pair<double, double>> values);

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

struct Summary {
  int64_t count = 0;
  int64_t total = 0;
  int64_t min = 0;
  int64_t max = 0;
  double mean = std::numeric_limits<double>::quiet_NaN();
  double median = std::numeric_limits<double>::quiet_NaN();
  double stddev = std::numeric_limits<double>::quiet_NaN();  // of a sample; NaN of a single value
};

// Reorders `values`.
Summary Summarise(std::span<int64_t> values);

}  // namespace debrief
