// The same kernels on two clocks, a known distance apart.
#include "accel/clock_match.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace debrief::accel {
namespace clock_match_test {

std::vector<TimedName> Iterations(std::string_view word, int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<TimedName> names;
  double now = 1000;
  for (int i = 0; i < count; ++i) {
    for (const char letter : word) {
      now += 10 + static_cast<double>(random() % 5);
      names.push_back({now, static_cast<uint32_t>(letter)});
    }
    now += static_cast<double>(random() % 50);  // iterations never take the same time
  }
  return names;
}

// A part of `names`, on a clock that is behind by `offset` and late by up to a microsecond.
std::vector<TimedName> Recorded(const std::vector<TimedName>& names, size_t first, size_t count,
                                double offset) {
  std::mt19937 random(7);
  std::vector<TimedName> part;
  for (size_t i = first; i < first + count; ++i) {
    part.push_back(
        {names[i].ts - offset + 0.001 * static_cast<double>(random() % 1000), names[i].name});
  }
  return part;
}

TEST(ClockMatch, FindsTheOffsetOfEqualRecordings) {
  const auto reference = Iterations("abcd", 20, 1);
  const ClockMatch match = MatchClocks(reference, Recorded(reference, 0, reference.size(), 1e9));
  EXPECT_EQ(match.matched, reference.size());
  EXPECT_NEAR(match.offset_us, 1e9, 1);
  EXPECT_LT(match.spread_us, 1);
}

TEST(ClockMatch, AShorterRecordingFindsItsIterations) {
  const auto reference = Iterations("abbcd", 40, 2);
  for (const size_t iteration : {0u, 7u, 25u, 34u}) {
    const auto other = Recorded(reference, iteration * 5, 30, -5e6);
    const ClockMatch match = MatchClocks(reference, other);
    EXPECT_EQ(match.matched, 30u);
    EXPECT_NEAR(match.offset_us, -5e6, 1) << iteration;
    EXPECT_GT(match.equally_good, 1u);
    // The other way around, the longer one is laid over the shorter one.
    EXPECT_NEAR(MatchClocks(other, reference).offset_us, 5e6, 1) << iteration;
  }
}

TEST(ClockMatch, OtherNamesDoNotMatch) {
  EXPECT_EQ(MatchClocks(Iterations("abc", 5, 3), Iterations("xyz", 5, 3)).matched, 0u);
  EXPECT_EQ(MatchClocks({}, Iterations("xyz", 5, 3)).matched, 0u);
}

TEST(ClockMatch, ManyIterationsStayCheap) {
  const auto reference = Iterations("abcdefgh", 20'000, 4);
  const ClockMatch match = MatchClocks(reference, Recorded(reference, 0, reference.size(), 3e6));
  EXPECT_EQ(match.matched, reference.size());
  EXPECT_NEAR(match.offset_us, 3e6, 1);
}

}  // namespace clock_match_test
}  // namespace debrief::accel
