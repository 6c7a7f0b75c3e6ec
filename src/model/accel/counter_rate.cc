#include "model/accel/counter_rate.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/stats/statistics.h"
#include "model/accel/frequency.h"

namespace debrief::accel {

namespace {

// Host times come in nanoseconds: below a microsecond a duration says little.
constexpr int64_t kShortestNs = 1000;
// Durations that the runtime computed from stamps agree to their last digit; this leaves room for
// the rounding of short ones.
constexpr double kExactSpreadPct = 1;
// A line is believed when the ends of half of the events lie this close to it.
constexpr int64_t kSpanOverResidual = 100;
// A clock of a host and one of a device do not differ by more than this; a line that does is none.
constexpr double kMostDisagreement = 0.05;

// Outside of these a rate is an accident of broken numbers, and cycles could not be counted on.
constexpr double kLeastMhz = 1, kMostMhz = 20'000;
constexpr int64_t kLongestNs = int64_t{100} * 24 * 3600 * 1'000'000'000;

bool IsRate(double mhz) { return mhz >= kLeastMhz && mhz <= kMostMhz; }

// Long events count for more: their durations are rounded less.
void RateByDurations(std::span<const TimedCycles> events, CounterRate& rate) {
  std::vector<std::pair<double, double>> rates;  // value and weight
  for (const TimedCycles& event : events) {
    if (event.host_duration_ns < kShortestNs || event.cycles <= 0) continue;
    double mhz =
        1000 * static_cast<double>(event.cycles) / static_cast<double>(event.host_duration_ns);
    if (IsRate(mhz)) rates.push_back({mhz, static_cast<double>(event.host_duration_ns)});
  }
  if (rates.empty()) return;
  rate.duration_mhz = WeightedMedian(rates);
  for (auto& [mhz, weight] : rates) mhz = std::abs(mhz / rate.duration_mhz - 1) * 100;
  rate.duration_spread_pct = WeightedMedian(std::move(rates));
}

void RateByHost(std::span<const TimedCycles> events, CounterRate& rate) {
  std::vector<ClockSample> samples;
  samples.reserve(events.size());
  // From the first on: doubles hold microseconds since 1970 only to a quarter of one.
  for (const TimedCycles& event : events) {
    samples.push_back({static_cast<double>(event.host_end_ns - events.front().host_end_ns) / 1000,
                       event.end_cycles});
  }
  double guess = std::isnan(rate.duration_mhz) ? 1000 : rate.duration_mhz;
  FrequencyEstimate line = EstimateFrequency(samples, guess);
  if (line.samples < 3 || !IsRate(line.mhz)) return;
  rate.host_mhz = line.mhz;
  rate.residual_ns = std::llround(std::min(line.residual_us, 1e12) * 1000);
}

bool LineHolds(const CounterRate& rate) {
  return !std::isnan(rate.host_mhz) && rate.residual_ns <= rate.span_ns / kSpanOverResidual;
}

}  // namespace

CounterRate RateOf(std::span<const TimedCycles> events) {
  CounterRate rate;
  rate.events = events.size();
  if (events.empty()) return rate;
  rate.span_ns = events.back().host_end_ns - events.front().host_end_ns;
  if (rate.span_ns > kLongestNs) return rate;
  RateByDurations(events, rate);
  RateByHost(events, rate);
  bool exact = rate.duration_spread_pct <= kExactSpreadPct;
  bool agrees = std::abs(rate.host_mhz / rate.duration_mhz - 1) <= kMostDisagreement;
  if (LineHolds(rate) && (!exact || agrees)) {
    // Over a short file the line is the worse of two that agree.
    bool by_line = !exact || rate.residual_ns <= rate.span_ns / (100 * kSpanOverResidual);
    rate.mhz = by_line ? rate.host_mhz : rate.duration_mhz;
    rate.told_by = by_line ? "host" : "durations";
  } else if (!std::isnan(rate.duration_mhz)) {
    rate.mhz = rate.duration_mhz;
    rate.told_by = "durations";
  }
  return rate;
}

}  // namespace debrief::accel
