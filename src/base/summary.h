// Count, sum, smallest, largest, mean, median and standard deviation of whole numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace debrief {

struct Summary {
  int64_t count = 0;
  int64_t total = 0;
  int64_t min = 0;
  int64_t max = 0;
  double mean = std::numeric_limits<double>::quiet_NaN();
  double median = std::numeric_limits<double>::quiet_NaN();  // mean of the middle two when even
  double stddev = std::numeric_limits<double>::quiet_NaN();  // of a sample; NaN of a single value
};

// Reorders `values`. Linear.
Summary Summarise(std::span<int64_t> values);

}  // namespace debrief
