#include "model/accel/counter_jumps.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/stats/statistics.h"
#include "model/accel/cycle_clock.h"

namespace debrief::accel {
namespace {

constexpr size_t kSide = 5;          // samples on each side of a place
constexpr double kLeastUs = 1000;    // of a jump: hosts are late by less, for many samples in a row
constexpr double kShareOfGap = 0.2;  // and of the time between the samples: no error of a frequency
constexpr double kSafeUs = 500'000;  // a wrap takes longer, below 8.6 GHz

int64_t Steps(const ClockSample& from, const ClockSample& to) {
  return (to.cycles - from.cycles) & (kCounterSpan - 1);
}

// The median of what neighbours say, weighted by the time between them: few of them lie at jumps.
double LocalMhz(std::span<const ClockSample> samples) {
  std::vector<std::pair<double, double>> slopes;
  for (size_t i = 0; i + 1 < samples.size(); ++i) {
    const double gap = samples[i + 1].host_us - samples[i].host_us;
    const int64_t cycles = Steps(samples[i], samples[i + 1]);
    const bool runs_back = cycles > kCounterSpan / 2;  // two events that end together
    if (gap <= 0 || gap > kSafeUs || cycles == 0 || runs_back) continue;
    slopes.emplace_back(static_cast<double>(cycles) / gap, gap);
  }
  return slopes.empty() ? 0 : WeightedMedian(std::move(slopes));
}

// How far the counter is ahead of the host, from the first sample on; wraps are no distance.
std::vector<double> Ahead(std::span<const ClockSample> samples, double mhz) {
  std::vector<double> ahead = {0};
  for (size_t i = 0; i + 1 < samples.size(); ++i) {
    const double gap = samples[i + 1].host_us - samples[i].host_us;
    const double more = static_cast<double>(Steps(samples[i], samples[i + 1])) - mhz * gap;
    ahead.push_back(ahead.back() + std::remainder(more, static_cast<double>(kCounterSpan)) / mhz);
  }
  return ahead;
}

double MedianOf(std::span<const double> values) {
  return Median(std::vector<double>(values.begin(), values.end()));
}

}  // namespace

CounterJumps FindCounterJumps(std::span<const ClockSample> samples) {
  CounterJumps jumps;
  jumps.mhz = LocalMhz(samples);
  if (jumps.mhz <= 0) return jumps;
  const std::vector<double> ahead = Ahead(samples, jumps.mhz);
  for (size_t i = 0; i + 1 < ahead.size(); ++i) {
    const double limit = kLeastUs + kShareOfGap * (samples[i + 1].host_us - samples[i].host_us);
    if (std::abs(ahead[i + 1] - ahead[i]) <= limit) continue;
    const size_t begin = i + 1 - std::min(kSide, i + 1);
    const size_t end = std::min(i + 1 + kSide, ahead.size());
    const std::span<const double> all(ahead);
    const double before = MedianOf(all.subspan(begin, i + 1 - begin));
    const double behind = MedianOf(all.subspan(i + 1, end - i - 1));
    if (std::abs(behind - before) <= limit) continue;
    if (samples[i].job != samples[i + 1].job) {
      ++jumps.between_jobs;
      continue;
    }
    if (jumps.count++ > 0) continue;
    jumps.first_at_us = samples[i].host_us;
    jumps.first_us = behind - before;
  }
  return jumps;
}

}  // namespace debrief::accel
