// The reference's rules for clocks: of the ranks, and of the cycle counters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_set>
#include <vector>

#include "accel/stages/cycles.h"
#include "accel/stages/stages.h"
#include "compat/acelyzer/python_text.h"
#include "compat/acelyzer/reference.h"

namespace debrief::accel::reference {

// mp_sync_tight_v1 moves device events alone: all of them to the device clock of rank 0, shifted so
// that the ranks receive the first (of several) collective's data when rank 0 has sent it, and to
// the host clock of its last event. It needs ranks 0..n-1 and every rank in every collective.

namespace {

// Device times of one rank in one collective, microseconds.
struct Member {
  double received = -std::numeric_limits<double>::infinity();  // max TS2
  double sent = -std::numeric_limits<double>::infinity();      // max TS5
  const Event* last_received = nullptr;
  const Event* last_sent = nullptr;
};

struct Group {
  Value name;
  ByValue<Member> ranks;
};

class TightSync {
 public:
  TightSync(EventList& events, Run& run) : events_(events), run_(run) {}

  void Apply() {
    Collect();
    if (groups_.empty() || ranks_.size() < 2) {
      run_.console.Info("MP SYNC: no collective group detected or single process, no action");
      return;
    }
    if (!IsComplete()) return;
    Measure();
    for (Event& event : events_) Move(event);
  }

 private:
  void Collect() {
    ByValue<size_t> index;
    for (const Event& event : events_) {
      if (event.phase != 'X' && event.phase != 'b') continue;
      const Arg* group = event.Find(key::kCollGroup);
      if (group == nullptr || run_.StampsOf(event) == nullptr) continue;
      ranks_[event.pid] = true;
      size_t& at = index[group->value()];
      if (at == 0) {
        all_.push_back({group->value(), {}});
        at = all_.size();
      }
      Add(event, all_[at - 1].ranks[event.pid]);
    }
    ChooseGroups();
  }

  void Add(const Event& event, Member& member) {
    const Stamps& stamps = *run_.StampsOf(event);
    if (stamps.dev[1] > member.received) {
      member.received = stamps.dev[1];
      member.last_received = &event;
    }
    if (stamps.dev[4] > member.sent) {
      member.sent = stamps.dev[4];
      member.last_sent = &event;
    }
  }

  // Those of rank 0; of all kinds only AllReduce where there is one.
  void ChooseGroups() {
    auto is_all_reduce = [&](const Group& group) {
      return group.name.AsText(run_.strings).find("AllReduce") != std::string::npos;
    };
    for (Group& group : all_) {
      if (group.ranks.Find(Value::Integer(0)) != nullptr) groups_.push_back(&group);
    }
    const bool has_all_reduce = std::any_of(groups_.begin(), groups_.end(),
                                            [&](const Group* g) { return is_all_reduce(*g); });
    if (has_all_reduce)
      std::erase_if(groups_, [&](const Group* group) { return !is_all_reduce(*group); });
  }

  bool IsComplete() {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (Group* group : groups_) {
        if (group->ranks.Find(Rank(rank)) != nullptr) continue;
        run_.console.Error(
            fmt::format("MP SYNC: rank {} has no part in the collective {}; clocks are left as "
                        "they are",
                        rank, group->name.AsText(run_.strings)));
        return false;
      }
    }
    return true;
  }

  static Value Rank(size_t rank) { return Value::Integer(static_cast<int64_t>(rank)); }
  Member& At(size_t rank, size_t group) { return *groups_[group]->ranks.Find(Rank(rank)); }

  // Whether rank 0 sends last (tree) or the highest rank (chain).
  bool IsTree() const {
    return std::any_of(events_.begin(), events_.end(), [&](const Event& event) {
      const Arg* group = event.Find(key::kCollGroup);
      return event.pid == Value::Integer(0) && group != nullptr &&
             group->value() == groups_[0]->name && run_.Traits(event).all_reduce_full;
    });
  }

  void Measure() {
    const size_t count = ranks_.size();
    const bool is_tree = IsTree();
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i) order[i] = is_tree ? i : count - 1 - i;
    shifts_.assign(count, 0);
    for (size_t k = 2; k < count; ++k)
      shifts_[order[k]] -= At(order[k], 0).received - At(order[1], 0).received;
    size_t best = 0;
    auto delay = [&](size_t g) { return At(order[1], g).received - At(order[0], g).sent; };
    for (size_t g = 1; g < groups_.size(); ++g) {
      if (delay(g) < delay(best)) best = g;
    }
    if (is_tree) {
      for (size_t k = 1; k < count; ++k) shifts_[order[k]] -= delay(best);
    } else {
      shifts_[order[0]] += delay(best);
    }
    const Member& zero = At(0, best);
    const Event& last = *(is_tree ? zero.last_sent : zero.last_received);
    offset_ = last.ts + last.dur - (is_tree ? zero.sent : zero.received);
    LogShifts();
  }

  void LogShifts() const {
    std::vector<std::string> shifts;
    for (double shift : shifts_) shifts.push_back(PythonFloat(shift));
    run_.console.Info(
        fmt::format("MP_SYNC_V2 delta_t5, dts_2_hts_ref_offset:  {}", PythonFloat(offset_)));
    run_.console.Info(
        fmt::format("MP_SYNC_V2 delta_t5, dts_shifts:            [{}]", fmt::join(shifts, ", ")));
  }

  void Move(Event& event) {
    Stamps* stamps = run_.StampsOf(event);
    if (stamps == nullptr || event.phase != 'X') return;
    const auto rank = event.pid.AsInteger(run_.strings).value_or(-1);
    if (rank < 0 || rank >= static_cast<int64_t>(shifts_.size())) return;
    for (size_t i = 0; i < 5; ++i) {
      stamps->dev[i] += shifts_[static_cast<size_t>(rank)];
      stamps->all[i] = stamps->dev[i] + offset_;
    }
    const Phase phase = PhaseByWord(run_.Text(event.name));
    event.ts = stamps->all[phase == Phase::kNone ? 0 : static_cast<size_t>(phase)];
  }

  EventList& events_;
  Run& run_;
  ByValue<bool> ranks_;
  std::vector<Group> all_;
  std::vector<Group*> groups_;
  std::vector<double> shifts_;
  double offset_ = 0;
};

}  // namespace

void MpSyncTightV1(EventList& events, Run& run) {
  TightSync(events, run).Apply();
  std::reverse(events.begin(), events.end());
  SortByStart(events);
}

// mp_ts_calibration_v2 leaves events in reverse order.
void MpTsCalibrationV2(EventList& events, Run& run) {
  CalibrateRanks(events, run);
  std::reverse(events.begin(), events.end());
}

// normalize_phase2 takes whole spans of the counter since the reference epoch of the rank, at the
// start of the event, which counts the wrap of an event that straddles one twice.

namespace {

// Whole wraps between the epoch (host time of cycle 0) and the host time.
int64_t WrapsByFloor(double host_us, double epoch_us, double mhz) {
  const double span_us = static_cast<double>(kCounterSpan) / mhz;
  return static_cast<int64_t>(std::floor((host_us - epoch_us) / span_us));
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

  void Log() const {
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

}  // namespace

void NormalizePhase2(EventList& events, Run& run) {
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
  rule.Log();
}

}  // namespace debrief::accel::reference
