// normalize_phase2: stamps count on where the 32-bit counter wrapped; `OVC` says how often it had.
//
// The right number of wraps is the one that brings the stamp that belongs to the end of the event
// nearest to the host's end (model/accel/cycle_clock.h). The reference takes whole spans since the
// reference epoch of the rank, at the start of the event, which counts the wrap of an event that
// straddles one twice.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "accel/passes/cycles.h"
#include "accel/passes/passes.h"
#include "model/accel/frequency.h"
#include "model/accel/python_float.h"

namespace debrief::accel {

namespace {

void AddWraps(Event& event, CycleStamps stamps, int64_t wraps, Run& run) {
  if (wraps != 0) {
    for (int64_t& stamp : stamps) stamp += wraps * kCounterSpan;
    SetCycles(event, stamps, run);
  }
  run.args.Set(event, key::kOvc, Value::Integer(wraps));
}

// One sample a job, and how far its epoch is off.
class FloorRule {
 public:
  explicit FloorRule(Run& run) : run_(run) {}

  void Take(Event& event) {
    const auto stamps = CyclesOf(event, run_);
    if (event.phase != 'X' || !stamps) return;
    const CycleReference* reference = run_.Shared<CycleState>().references.Find(event.pid);
    if (reference == nullptr) return;
    const int64_t wraps = WrapsByFloor(event.ts, reference->epoch, run_.options.soc_mhz);
    AddWraps(event, *stamps, wraps, run_);
    if (jobs_.insert(event.job).second) Sample(event, *stamps, wraps, *reference);
  }

  void Tell() const {
    if (samples_.count == 0) return;
    const double mean = samples_.mean();
    if (samples_.max - samples_.min > 0.2 * mean) {
      run_.console.Warning(fmt::format(
          "FREQ: frequencies of jobs differ ({:.3f} to {:.3f} MHz); epochs may be wrong",
          samples_.min, samples_.max));
    } else if (std::abs(mean - run_.options.soc_mhz) > 0.1) {
      run_.console.Warning(fmt::format(
          "FREQ: Recommendation: to minimize event time drift (max: {}us) between CPU and "
          "Accelerator, use: --freq={}",
          drift_, PythonFloat(PythonRound(mean, 3))));
    }
  }

 private:
  void Sample(const Event& event, const CycleStamps& stamps, int64_t wraps,
              const CycleReference& reference) {
    const double cycles = static_cast<double>(stamps[0] + wraps * kCounterSpan);
    if (event.ts == reference.ts) return;
    samples_.Add((cycles - reference.cycles) / (event.ts - reference.ts));
    const double span = static_cast<double>(kCounterSpan) / run_.options.soc_mhz;
    const double epoch = event.ts - cycles / run_.options.soc_mhz;
    const auto drift =
        static_cast<int64_t>(epoch - (reference.epoch + static_cast<double>(wraps) * span));
    if (std::abs(drift) > std::abs(drift_)) drift_ = drift;
  }

  Run& run_;
  std::unordered_set<uint32_t> jobs_;
  RunningMean samples_;
  int64_t drift_ = 0;
};

// Of one rank's counter.
struct Counter {
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
    Counter& counter = counters_[event.pid];
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
      found.push_back(EstimateFrequency(counter.samples, run_.options.soc_mhz));
      if (found.back().samples < 3) {
        found.pop_back();
      } else {
        Tell(pid, found.back());
      }
    }
    TellRecommended(found);
  }

  void Tell(const Value& pid, const FrequencyEstimate& found) const {
    run_.console.Info(fmt::format(
        "FREQ: cycle counter of rank {}: {:.3f} MHz ({:+.0f} ppm of --freq), median residual "
        "{:.3f} us, with --freq {:.3f} us",
        pid.AsText(run_.strings), found.mhz, found.ppm, found.residual_us,
        found.given_residual_us));
  }

  // One frequency for all ranks: the median of theirs.
  void TellRecommended(std::vector<FrequencyEstimate>& found) const {
    double drift = 0;
    bool is_better = false;
    for (const FrequencyEstimate& each : found) {
      is_better |= each.recommended;
      drift = std::max(drift, std::abs(each.drift_us));
    }
    if (!is_better) return;
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.mhz < b.mhz; });
    run_.console.Warning(fmt::format(
        "FREQ: Recommendation: to minimize event time drift (max: {:.0f}us) between CPU and "
        "Accelerator, use: --freq={:.3f}",
        drift, found[found.size() / 2].mhz));
  }

  Run& run_;
  ByValue<Counter> counters_;
};

}  // namespace

void NormalizePhase2(EventList& events, Run& run) {
  if (!run.options.compat) return NearestRule(run).Apply(events);
  FloorRule rule(run);
  // Without the barrier in front of it, the reference knows only the events so far.
  if (!run.has_first_barrier) run.Shared<CycleState>().references = {};
  for (Event& event : events) {
    if (!run.has_first_barrier) {
      if (const auto stamps = CyclesOf(event, run); stamps && event.phase == 'X')
        UpdateReference(event, *stamps, run);
    }
    rule.Take(event);
  }
  rule.Tell();
}

}  // namespace debrief::accel
