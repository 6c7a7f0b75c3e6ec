// Counters are made from known times, cut to 32 bits and unwrapped again.
#include "model/accel/cycle_clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace debrief::accel {
namespace cycle_clock_test {

constexpr int64_t kMask = kCounterSpan - 1;

TEST(UnwrapWithin, AddsAWrapFromTheFirstStampThatFellBack) {
  CycleStamps stamps{kMask - 10, kMask - 5, 3, 10, 20};
  EXPECT_EQ(UnwrapWithin(stamps), 2u);
  EXPECT_EQ(stamps, (CycleStamps{kMask - 10, kMask - 5, kCounterSpan + 3, kCounterSpan + 10,
                                 kCounterSpan + 20}));
  CycleStamps straight{1, 2, 2, 3, 4};
  EXPECT_EQ(UnwrapWithin(straight), 0u);
}

struct Trial {
  double mhz = 560;        // of the counter
  double assumed = 560;    // what the user says
  double latency_us = 50;  // host times are late by up to this
  double gap_s = 1;        // mean time between events
};

// Unwrapping gives back the exact cycles of every stamp, wherever the wraps fell.
void ExpectExact(const Trial& trial, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> share(0, 1);
  WrapCounter counter(trial.assumed);
  int64_t now = static_cast<int64_t>(random() & kMask);
  const int64_t first_wrap = now / kCounterSpan;
  int straddling = 0;
  for (int i = 0; i < 3000; ++i) {
    CycleStamps exact;
    for (int64_t& stamp : exact) {
      stamp = now;
      now += static_cast<int64_t>(share(random) * 5e-2 * trial.mhz * 1e6);
    }
    CycleStamps seen = exact;
    for (int64_t& stamp : seen) stamp &= kMask;
    straddling += UnwrapWithin(seen) > 0;
    const auto phase = static_cast<Phase>(random() % 5);
    const size_t anchor = StampAtEnd(phase);
    const double host =
        static_cast<double>(exact[anchor]) / trial.mhz + share(random) * trial.latency_us;
    const int64_t wraps = counter.Wraps(host, seen[anchor]);
    for (size_t k = 0; k < exact.size(); ++k) {
      ASSERT_EQ(seen[k] + (wraps + first_wrap) * kCounterSpan, exact[k]) << "event " << i;
    }
    now += static_cast<int64_t>(2 * share(random) * trial.gap_s * trial.mhz * 1e6);
  }
  EXPECT_GT(straddling, 3);
}

TEST(WrapCounter, IsExactOnDenseEvents) {
  for (uint32_t seed = 1; seed <= 20; ++seed) ExpectExact({.gap_s = 0.01}, seed);
}

TEST(WrapCounter, IsExactAcrossGapsOfManyWraps) {
  for (uint32_t seed = 1; seed <= 20; ++seed) ExpectExact({.gap_s = 60}, seed);
}

TEST(WrapCounter, BearsAWrongFrequency) {
  // One percent off: 600 wraps of trace, gaps of up to 20 s.
  for (uint32_t seed = 1; seed <= 20; ++seed) ExpectExact({.assumed = 565.6, .gap_s = 10}, seed);
}

TEST(WrapCounter, BearsLateHosts) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    ExpectExact({.latency_us = 3e6, .gap_s = 1}, seed);
  }
}

}  // namespace cycle_clock_test
}  // namespace debrief::accel
