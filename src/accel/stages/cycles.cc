#include "accel/stages/cycles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "accel/run.h"
#include "accel/stages/stages.h"
#include "base/stats/statistics.h"
#include "compat/acelyzer/python_text.h"
#include "model/accel/counter_jumps.h"
#include "model/accel/cycle_clock.h"
#include "model/accel/frequency.h"

namespace debrief::accel {

namespace {

constexpr StringId kStampKeys[5] = {key::kTS1, key::kTS2, key::kTS3, key::kTS4, key::kTS5};

void LogReference(const Event& event, const CycleReference& reference, Run& run) {
  run.console.Info(fmt::format("OVC: Reference Epoch for {} {} {} {}",
                               event.pid.AsText(run.strings), run.jobs[event.job].number,
                               PythonFloat(event.ts - reference.epoch),
                               PythonFloat(reference.epoch)));
}

}  // namespace

void RunningMean::Add(double value) {
  min = std::min(min, value);
  max = std::max(max, value);
  sum += value;
  ++count;
}

std::optional<CycleStamps> CyclesOf(const Event& event, const Run& run) {
  int64_t cycles[5];
  if (!ReadCycles(event, run.strings, cycles)) return std::nullopt;
  return std::to_array(cycles);
}

void SetCycles(Event& event, const CycleStamps& stamps, Run& run) {
  for (size_t i = 0; i < stamps.size(); ++i)
    run.args.Set(event, kStampKeys[i], Value::DecimalText(stamps[i]));
}

CycleReference& UpdateReference(const Event& event, const CycleStamps& stamps, Run& run) {
  CycleState& state = run.Shared<CycleState>();
  CycleReference& reference = state.references[event.pid];
  const Phase phase = PhaseBySuffix(run.Text(event.name));
  const auto cycles = static_cast<double>(stamps[StampAtStart(phase)]);
  const double epoch = event.ts - cycles / run.options.soc_mhz;
  if (epoch >= reference.epoch) return reference;
  const bool is_first = reference.epoch == std::numeric_limits<double>::infinity();
  state.lowered += is_first ? 0 : 1;
  reference = {epoch, event.ts, cycles};
  if (is_first && event.job < run.jobs.size()) LogReference(event, reference, run);
  return reference;
}

// normalize_phase2: stamps count on where the 32-bit counter wrapped; `OVC` says how often it had.
//
// The right number of wraps is the one that brings the stamp that belongs to the end of the event
// nearest to the host's end (model/accel/cycle_clock.h).

void AddWraps(Event& event, CycleStamps stamps, int64_t wraps, Run& run) {
  if (wraps != 0) {
    for (int64_t& stamp : stamps) stamp += wraps * kCounterSpan;
    SetCycles(event, stamps, run);
  }
  run.args.Set(event, key::kOvc, Value::Integer(wraps));
}

namespace {

// Of one rank's counter.
struct RankCounter {
  std::optional<WrapCounter> wraps;
  int64_t lowest = 0;
  std::vector<ClockSample> samples;
};

class NearestRule {
 public:
  explicit NearestRule(Run& run) : run_(run) {}

  void Apply(EventList& events) {
    std::vector<int64_t> wraps(events.size(), 0);
    for (size_t i = 0; i < events.size(); ++i) wraps[i] = Count(events[i]);
    for (size_t i = 0; i < events.size(); ++i) {
      const auto stamps = CyclesOf(events[i], run_);
      if (events[i].phase == 'X' && stamps)
        AddWraps(events[i], *stamps, wraps[i] - counters_[events[i].pid].lowest, run_);
    }
    Recommend();
  }

 private:
  int64_t Count(const Event& event) {
    const auto stamps = CyclesOf(event, run_);
    if (event.phase != 'X' || !stamps) return 0;
    RankCounter& counter = counters_[event.pid];
    if (!counter.wraps) counter.wraps.emplace(run_.options.soc_mhz);
    const int64_t cycles = (*stamps)[StampAtEnd(PhaseBySuffix(run_.Text(event.name)))];
    const int64_t wraps = counter.wraps->Wraps(event.end(), cycles);
    counter.lowest = std::min(counter.lowest, wraps);
    counter.samples.push_back({event.end(), cycles, static_cast<int32_t>(event.job)});
    return wraps;
  }

  void Recommend() {
    std::vector<FrequencyEstimate> found;
    for (auto& [pid, counter] : counters_) {
      std::stable_sort(counter.samples.begin(), counter.samples.end(),
                       [](const auto& a, const auto& b) { return a.host_us < b.host_us; });
      const CounterJumps jumps = FindCounterJumps(counter.samples);
      WarnOfJumps(pid, jumps);
      if (jumps.count > 0) continue;
      found.push_back(EstimateFrequency(counter.samples, run_.options.soc_mhz));
      if (found.back().samples < 3) {
        found.pop_back();
      } else {
        LogEstimate(pid, found.back());
      }
    }
    LogRecommended(found);
  }

  void LogEstimate(const Value& pid, const FrequencyEstimate& found) const {
    run_.console.Info(fmt::format(
        "FREQ: cycle counter of rank {}: {:.3f} MHz ({:+.0f} ppm of --freq), median residual "
        "{:.3f} us, with --freq {:.3f} us",
        pid.AsText(run_.strings), found.mhz, found.ppm, found.residual_us,
        found.given_residual_us));
  }

  // A line through two epochs has the frequency of neither.
  void WarnOfJumps(const Value& pid, const CounterJumps& jumps) const {
    if (jumps.between_jobs > 0) {
      run_.console.Warning(fmt::format(
          "FREQ: the cycle counter of rank {} does not go on from one job to the next ({} time{}): "
          "epochs may be wrong, and times of jobs against each other with them",
          pid.AsText(run_.strings), jumps.between_jobs, jumps.between_jobs == 1 ? "" : "s"));
    }
    if (jumps.count == 0) return;
    run_.console.Warning(fmt::format(
        "FREQ: the cycle counter of rank {} leaves the host's clock {} time{} (first by {:.3f} us, "
        "at {:.3f} us): epochs may be wrong. Between these places it runs at {:.3f} MHz.",
        pid.AsText(run_.strings), jumps.count, jumps.count == 1 ? "" : "s", jumps.first_us,
        jumps.first_at_us, jumps.mhz));
  }

  // One frequency for all ranks: the median of theirs.
  void LogRecommended(const std::vector<FrequencyEstimate>& found) const {
    double drift = 0;
    bool is_better = false;
    std::vector<double> rates;
    for (const FrequencyEstimate& each : found) {
      rates.push_back(each.mhz);
      is_better |= each.recommended;
      drift = std::max(drift, std::abs(each.drift_us));
    }
    if (!is_better) return;
    run_.console.Warning(fmt::format(
        "FREQ: Recommendation: to minimize event time drift (max: {:.0f}us) between CPU and "
        "Accelerator, use: --freq={:.3f}",
        drift, Median(std::move(rates))));
  }

  Run& run_;
  ByValue<RankCounter> counters_;
};

}  // namespace

void NormalizePhase2(EventList& events, Run& run) { NearestRule(run).Apply(events); }

namespace {

constexpr size_t kFewSamples = 3;

// The stamp that belongs to the end of the event, from wherever the input has it.
std::optional<int64_t> EndStampOf(const Event& event, const Run& run) {
  const size_t index = StampAtEnd(PhaseBySuffix(run.Text(event.name)));
  const auto key = static_cast<StringId>(static_cast<size_t>(key::kTS1) + index);
  const Arg* arg = event.Find(key, ArgPlace::kAttr);
  if (arg == nullptr) arg = event.Find(key);
  return arg == nullptr ? std::nullopt : arg->value().AsInteger(run.strings);
}

}  // namespace

std::optional<double> EstimateSocFrequency(const EventList& events, const Run& run) {
  ByValue<std::vector<ClockSample>> ranks;
  for (const Event& event : events) {
    if (event.phase != 'X') continue;
    if (const auto cycles = EndStampOf(event, run))
      ranks[event.pid].push_back({event.end(), *cycles, static_cast<int32_t>(event.job)});
  }
  std::vector<double> found;
  for (auto& [pid, samples] : ranks) {
    std::stable_sort(samples.begin(), samples.end(),
                     [](const auto& a, const auto& b) { return a.host_us < b.host_us; });
    const CounterJumps jumps = FindCounterJumps(samples);
    const FrequencyEstimate estimate = EstimateFrequency(samples, run.options.soc_mhz);
    if (jumps.count > 0) {
      found.push_back(jumps.mhz);
    } else if (estimate.samples >= kFewSamples && estimate.mhz > 0)
      found.push_back(estimate.mhz);
  }
  if (found.empty()) return std::nullopt;
  return Median(std::move(found));
}

// event_sanity_checks: stamps of an event in order, TS1 <= ... <= TS5. Others are told; the
// reference stops.

void EventSanityChecks(EventList& events, Run& run) {
  int64_t disordered = 0;
  for (const Event& event : events) {
    const auto stamps = event.phase == 'X' ? CyclesOf(event, run) : std::nullopt;
    if (stamps && !std::is_sorted(stamps->begin(), stamps->end())) ++disordered;
  }
  if (disordered > 0)
    run.console.Error(fmt::format(
        "OVC: local_correction fix has missed {} events: TS1 to TS5 are out of order", disordered));
}

}  // namespace debrief::accel
