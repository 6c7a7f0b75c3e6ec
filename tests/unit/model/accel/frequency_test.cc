// Traces of a counter with a known frequency, seen by a host that is late.
#include "model/accel/frequency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace debrief::accel {
namespace frequency_test {

struct Trace {
  double mhz = 560;
  double latency_us = 20;  // mean of an exponential latency
  double gap_us = 200;     // mean between events
  int events = 2000;
  double wild = 0;  // share of host times that are off by up to 0.1 s
  int jobs = 1;
  double job_shift_us = 0;  // of each job against the one before
};

std::vector<ClockSample> Make(const Trace& trace, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> latency(1 / trace.latency_us);
  std::exponential_distribution<double> gap(1 / trace.gap_us);
  std::uniform_real_distribution<double> share(0, 1);
  std::vector<ClockSample> samples;
  const double start_cycle = share(random) * 4e9;
  double now = 0;
  for (int i = 0; i < trace.events; ++i) {
    now += gap(random);
    ClockSample sample;
    sample.job = i * trace.jobs / trace.events;
    sample.cycles = static_cast<int64_t>(std::fmod(start_cycle + now * trace.mhz, 4294967296.0));
    sample.host_us = 1e9 + now + latency(random) + sample.job * trace.job_shift_us;
    if (share(random) < trace.wild) sample.host_us += share(random) * 1e5;
    samples.push_back(sample);
  }
  std::stable_sort(samples.begin(), samples.end(), [](const ClockSample& a, const ClockSample& b) {
    return a.host_us < b.host_us;
  });
  return samples;
}

void ExpectRight(const Trace& trace, double given) {
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    const FrequencyEstimate estimate = EstimateFrequency(Make(trace, seed), given);
    ASSERT_GE(estimate.samples, 3u);
    EXPECT_NEAR(estimate.mhz, trace.mhz, trace.mhz * 1e-3) << "seed " << seed;
  }
}

TEST(Frequency, IsRightToAThousandth) {
  for (const double mhz : {557.05, 560.0, 800.0, 1000.0, 1980.0}) {
    ExpectRight({.mhz = mhz}, 1000);
    ExpectRight({.mhz = mhz, .gap_us = 20'000}, 1000);              // many wraps
    ExpectRight({.mhz = mhz, .gap_us = 3e6, .events = 300}, 1000);  // gaps of a wrap and more
  }
}

TEST(Frequency, BearsWildHostTimes) { ExpectRight({.mhz = 557.05, .wild = 0.1}, 560); }

TEST(Frequency, BearsJobsThatAreShifted) {
  ExpectRight({.mhz = 557.05, .events = 4000, .jobs = 4, .job_shift_us = 50'000}, 560);
  const auto samples = Make({.events = 4000, .jobs = 4, .job_shift_us = 50'000}, 1);
  EXPECT_TRUE(EstimateFrequency(samples, 560).jobs_shifted);
}

TEST(Frequency, RecommendsWhatIsBetter) {
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    const auto samples = Make({.mhz = 557.05}, seed);
    const FrequencyEstimate wrong = EstimateFrequency(samples, 1000);
    EXPECT_TRUE(wrong.recommended);
    EXPECT_NEAR(wrong.ppm, (557.05 / 1000 - 1) * 1e6, 1000);
    EXPECT_GT(wrong.given_residual_us, 10 * wrong.residual_us);
    EXPECT_TRUE(EstimateFrequency(samples, 560).recommended);
    EXPECT_FALSE(EstimateFrequency(samples, 557.05).recommended);
  }
}

TEST(Frequency, SaysNothingOfNothing) {
  EXPECT_EQ(EstimateFrequency({}, 560).samples, 0u);
  const std::vector<ClockSample> same(10, ClockSample{5, 7, 0});
  EXPECT_EQ(EstimateFrequency(same, 560).samples, 0u);
}

}  // namespace frequency_test
}  // namespace debrief::accel
