// Counters are made from known times, cut to 32 bits and unwrapped again.
#include "model/accel/cycle_clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace debrief::accel {
namespace {

constexpr int64_t kMask = kCounterSpan - 1;

TEST(UnwrapWithin, AddsAWrapFromTheFirstStampThatFellBack) {
  CycleStamps stamps{kMask - 10, kMask - 5, 3, 10, 20};
  EXPECT_EQ(UnwrapWithin(stamps), 2u);
  EXPECT_EQ(stamps, (CycleStamps{kMask - 10, kMask - 5, kCounterSpan + 3, kCounterSpan + 10,
                                 kCounterSpan + 20}));
  CycleStamps straight{1, 2, 2, 3, 4};
  EXPECT_EQ(UnwrapWithin(straight), 0u);
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

}  // namespace
}  // namespace debrief::accel
