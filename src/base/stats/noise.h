// Is B different from A, or is it chance? Two series of samples (steps, ranks) are compared by
// their means, and the scatter of the samples says how far two means lie apart by chance.
//
//   A  131 134 125 ms   B  140 152 139 ms      means 130 and 144, noise 26: no change
//
// noise = t * sqrt(sA^2 / nA + sB^2 / nB), where s is the larger of two deviations that a single
// odd sample hardly moves (median and mean distance from the median, scaled to that of a normal
// distribution) and t is 3 of many samples and larger of few. Medians have to differ as well.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"

namespace debrief {

struct Change {
  int64_t a = 0;
  int64_t b = 0;
  int64_t noise = kNone64;  // differences up to here may be chance; kNone64: too few samples
  bool is_real = false;     // beyond noise

  int64_t difference() const { return b - a; }
};

// Of fewer samples on a side the scatter says nothing, and no change is real.
inline constexpr size_t kFewestSamples = 3;

// A change up to `floor`, which noise is not below, is never real: too small to matter, however
// regular.
Change ChangeOf(const std::vector<int64_t>& a, const std::vector<int64_t>& b, int64_t floor = 0);

// Of two figures that were measured once and scatter by about `percent` of the first.
Change ChangeOfSingles(int64_t a, int64_t b, int64_t percent);

// Rounded; 0 of none.
int64_t Mean(std::span<const int64_t> values);

// `percent` hundredths of an amount that may be large.
int64_t PercentOf(int64_t amount, int64_t percent);

}  // namespace debrief
