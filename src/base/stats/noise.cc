#include "base/stats/noise.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/stats/statistics.h"

namespace debrief {

namespace {

// A median and a mean distance from the median are this much smaller than the standard deviation.
constexpr double kDeviationOfMedian = 1.4826;
constexpr double kDeviationOfMean = 1.2533;
constexpr double kDeviations = 3;
// How much wider the limit is of few samples: about Student's t of the same certainty.
constexpr double kFewSamples = 4;

double SquaredError(const std::vector<int64_t>& values) {
  const double deviation =
      std::max(kDeviationOfMedian * static_cast<double>(MedianDeviation(values)),
               kDeviationOfMean * static_cast<double>(MeanDeviation(values)));
  return deviation * deviation / static_cast<double>(values.size());
}

bool IsBeyond(int64_t difference, int64_t limit) { return std::abs(difference) > limit; }

}  // namespace

int64_t Mean(std::span<const int64_t> values) {
  if (values.empty()) return 0;
  __int128 sum = 0;
  for (int64_t value : values) sum += value;
  const auto count = static_cast<__int128>(values.size());
  return static_cast<int64_t>((sum >= 0 ? sum + count / 2 : sum - count / 2) / count);
}

int64_t PercentOf(int64_t amount, int64_t percent) {
  return static_cast<int64_t>(static_cast<__int128>(amount) * percent / 100);
}

Change ChangeOf(const std::vector<int64_t>& a, const std::vector<int64_t>& b, int64_t floor) {
  Change change{.a = Mean(a), .b = Mean(b)};
  if (a.size() < kFewestSamples || b.size() < kFewestSamples) return change;
  const auto freedom = static_cast<double>(a.size() + b.size() - 2);
  const double t = kDeviations * (1 + kFewSamples / freedom);
  const int64_t limit =
      std::max<int64_t>(floor, std::llround(t * std::sqrt(SquaredError(a) + SquaredError(b))));
  change.noise = limit;
  const int64_t by_median = Median(b) - Median(a);
  change.is_real = IsBeyond(change.difference(), limit) && IsBeyond(by_median, limit) &&
                   (by_median > 0) == (change.difference() > 0);
  return change;
}

Change ChangeOfSingles(int64_t a, int64_t b, int64_t percent) {
  Change change{.a = a, .b = b, .noise = PercentOf(std::abs(a), percent)};
  change.is_real = IsBeyond(change.difference(), change.noise);
  return change;
}

}  // namespace debrief
