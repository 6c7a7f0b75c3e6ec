// The frequency of a cycle counter, from pairs of counter and host time.
//
// Host times are late by a latency that varies, and some are wild; jobs may be shifted against each
// other as a whole. Hence three steps, each linear in the number of pairs:
//   1. A first value from pairs less than half a second apart, where a wrap cannot be missed below
//      8.6 GHz: the weighted median of their slopes.
//   2. The counter is unwrapped with it (cycle_clock.h).
//   3. A line host = a + b * cycles by least squares, fitted again without what lies far off, until
//      that settles. The counter is exact and the host is not, so it is the host that is fitted.
//      Where jobs are shifted against each other, each gets an a of its own.
//
// A frequency is recommended only where it explains the host times better than the given one, by
// more than chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace debrief::accel {

struct ClockSample {
  double host_us = 0;
  int64_t cycles = 0;  // as read: wraps do not matter
  int32_t job = 0;
};

struct FrequencyEstimate {
  size_t samples = 0;  // used; fewer than 3: nothing else here means anything
  double mhz = 0;
  double error_mhz = 0;          // standard error of mhz
  double ppm = 0;                // of mhz against the given one
  double residual_us = 0;        // median distance of host times from the line
  double given_residual_us = 0;  // the same, for a line with the given frequency
  double drift_us = 0;           // what the given one is off by over the whole trace
  bool jobs_shifted = false;     // jobs needed lines of their own
  bool recommended = false;
};

// `samples` sorted by host time.
FrequencyEstimate EstimateFrequency(std::span<const ClockSample> samples, double given_mhz);

}  // namespace debrief::accel
