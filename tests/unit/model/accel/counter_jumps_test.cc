// Counters that leave the host's clock, and those that only look so.
#include "model/accel/counter_jumps.h"

#include <gtest/gtest.h>

#include <vector>

namespace debrief::accel {
namespace counter_jumps_test {

// 500 MHz, a sample every 10 ms; the counter wraps every 8.6 s.
std::vector<ClockSample> Samples(int count) {
  std::vector<ClockSample> samples;
  for (int i = 0; i < count; ++i) {
    const double host = 10'000.0 * i;
    const int64_t cycles = (4'000'000'000 + int64_t{5'000'000} * i) & 0xffffffff;
    samples.push_back({host + (i % 3), cycles, 0});
  }
  return samples;
}

TEST(CounterJumps, WrapsAreNoJumps) {
  const CounterJumps jumps = FindCounterJumps(Samples(3000));
  EXPECT_EQ(jumps.count, 0u);
  EXPECT_NEAR(jumps.mhz, 500, 0.2);
}

TEST(CounterJumps, AnotherEpochIsOne) {
  std::vector<ClockSample> samples = Samples(200);
  for (size_t i = 100; i < samples.size(); ++i)
    samples[i].cycles = (samples[i].cycles + 900'000'000) & 0xffffffff;
  const CounterJumps jumps = FindCounterJumps(samples);
  EXPECT_EQ(jumps.count, 1u);
  EXPECT_NEAR(jumps.first_us, 1'800'000, 500);
  EXPECT_NEAR(jumps.first_at_us, 990'000, 10);
  EXPECT_NEAR(jumps.mhz, 500, 0.2);
}

TEST(CounterJumps, AHostThatIsLateComesBack) {
  std::vector<ClockSample> samples = Samples(200);
  samples[50].host_us += 8000;
  samples[120].host_us += 9000;
  EXPECT_EQ(FindCounterJumps(samples).count, 0u);
}

TEST(CounterJumps, JobsHaveCountersOfTheirOwn) {
  std::vector<ClockSample> samples = Samples(200);
  for (size_t i = 100; i < samples.size(); ++i) {
    samples[i].cycles = (samples[i].cycles + 900'000'000) & 0xffffffff;
    samples[i].job = 1;
  }
  const CounterJumps jumps = FindCounterJumps(samples);
  EXPECT_EQ(jumps.count, 0u);
  EXPECT_EQ(jumps.between_jobs, 1u);
}

TEST(CounterJumps, TooFewSamplesSayNothing) {
  EXPECT_EQ(FindCounterJumps({}).count, 0u);
  EXPECT_EQ(FindCounterJumps(Samples(1)).count, 0u);
  EXPECT_EQ(FindCounterJumps(Samples(2)).count, 0u);
}

}  // namespace counter_jumps_test
}  // namespace debrief::accel
