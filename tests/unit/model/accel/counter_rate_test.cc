// The rate of a cycle counter, from exact and from noisy hosts.
#include "model/accel/counter_rate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace debrief::accel {
namespace counter_rate_test {

struct RatedTrace {
  double mhz = 560;
  int events = 400;
  double late_us = 0;      // what the host adds at most to an end, and half of it to a begin
  bool is_copied = false;  // stamps begin anew every 20 events
};

std::vector<TimedCycles> Make(const RatedTrace& trace) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> late(0, trace.late_us);
  std::vector<TimedCycles> events;
  double time_us = 1000;
  for (int i = 0; i < trace.events; ++i) {
    double duration_us = 20 + static_cast<double>(random() % 1000);
    time_us += duration_us + static_cast<double>(random() % 50'000);
    double counted_us = trace.is_copied ? 100.0 * (i % 20) : time_us;
    int64_t end_ns = std::llround((time_us + late(random)) * 1000);
    int64_t begin_ns = std::llround((time_us - duration_us + late(random) / 2) * 1000);
    events.push_back({.host_end_ns = end_ns,
                      .host_duration_ns = end_ns - begin_ns,
                      .end_cycles = std::llround(counted_us * trace.mhz) % (int64_t{1} << 32),
                      .cycles = std::llround(duration_us * trace.mhz)});
  }
  std::sort(events.begin(), events.end(), [](const TimedCycles& a, const TimedCycles& b) {
    return a.host_end_ns < b.host_end_ns;
  });
  return events;
}

TEST(CounterRate, AnExactHostTellsItBothWays) {
  CounterRate rate = RateOf(Make({.mhz = 557.05}));
  EXPECT_NEAR(rate.mhz, 557.05, 0.001);
  EXPECT_NEAR(rate.duration_mhz, 557.05, 0.01);
  EXPECT_LT(rate.duration_spread_pct, 0.1);
}

TEST(CounterRate, ANoisyHostTellsItOverTheWholeFile) {
  CounterRate rate = RateOf(Make({.mhz = 557.05, .late_us = 100}));
  EXPECT_EQ(rate.told_by, "host");
  EXPECT_NEAR(rate.mhz, 557.05, 557.05 * 0.001);
}

TEST(CounterRate, StampsThatDoNotGoOnLeaveTheDurations) {
  CounterRate rate = RateOf(Make({.mhz = 557.05, .is_copied = true}));
  EXPECT_EQ(rate.told_by, "durations");
  EXPECT_NEAR(rate.mhz, 557.05, 0.01);
}

TEST(CounterRate, OneEventIsEnoughAndNoneTellsNothing) {
  std::vector<TimedCycles> one = Make({.events = 1});
  EXPECT_EQ(RateOf(one).told_by, "durations");
  EXPECT_NEAR(RateOf(one).mhz, 560, 0.1);
  EXPECT_EQ(RateOf({}).told_by, "none");
  one[0].host_duration_ns = 0;
  EXPECT_TRUE(std::isnan(RateOf(one).mhz));
}

TEST(CounterRate, AbsurdNumbersTellNothing) {
  std::vector<TimedCycles> events = Make({.events = 10});
  for (TimedCycles& event : events) event.cycles = int64_t{1} << 48;
  EXPECT_TRUE(std::isnan(RateOf(events).duration_mhz));
  events.front().host_end_ns = -2'000'000'000'000'000'000;
  EXPECT_EQ(RateOf(events).told_by, "none");
}

}  // namespace counter_rate_test
}  // namespace debrief::accel
