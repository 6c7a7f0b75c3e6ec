// The order of events, and checks that it holds.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "accel/run.h"
#include "accel/stages/cycles.h"
#include "accel/stages/stages.h"

namespace debrief::accel {

// sort_events #1: by (ts, -dur) within each thread; threads follow each other in the order of their
// first event.

void SortEvents(EventList& events, Run&) {
  std::unordered_map<TrackKey, uint32_t, TrackHash> tracks;
  std::vector<std::vector<uint32_t>> queues;
  for (size_t i = 0; i < events.size(); ++i) {
    const Value tid = events[i].tid.IsNull() ? Value::Integer(0) : events[i].tid;
    const auto [at, is_new] =
        tracks.try_emplace({events[i].pid, tid}, static_cast<uint32_t>(queues.size()));
    if (is_new) queues.emplace_back();
    queues[at->second].push_back(static_cast<uint32_t>(i));
  }
  std::vector<uint32_t> order;
  order.reserve(events.size());
  for (std::vector<uint32_t>& queue : queues) {
    auto before = [&](uint32_t a, uint32_t b) {
      const Event &x = events[a], &y = events[b];
      return x.ts != y.ts ? x.ts < y.ts : x.dur > y.dur;
    };
    if (!std::is_sorted(queue.begin(), queue.end(), before))
      std::stable_sort(queue.begin(), queue.end(), before);
    order.insert(order.end(), queue.begin(), queue.end());
  }
  Permute(events, order);
}

// sort_events, third and fourth of its name: all events by (ts, -dur), ties as they came.

void SortGlobally(EventList& events, Run&) { SortByTime(events); }

// assert_ts_sequence: within a thread times do not go back, and of equal ones the longest comes
// first. What is against it is told. Kernels of a rank whose cycles overlap are counted.

namespace {

struct LastOnTrack {
  double ts = 0, dur = 0;
  bool is_set = false;
};

struct LastExec {
  double ts = 0;
  int64_t end = 0;
  bool is_set = false;
};

// The first of these passes counts kernels, for all.
struct KernelsCounted {
  bool done = false;
};

class SequenceChecker {
 public:
  explicit SequenceChecker(Run& run)
      : run_(run), counts_kernels_(!std::exchange(run.Shared<KernelsCounted>().done, true)) {}

  void Take(const Event& event) {
    if (event.phase != 'X' && event.phase != 'b' && event.phase != 'e') return;
    if (last_of_track_ == nullptr || !(track_ == TrackKey{event.pid, event.tid})) {
      track_ = {event.pid, event.tid};
      last_of_track_ = &last_[track_];
    }
    LastOnTrack& last = *last_of_track_;
    const bool is_back =
        last.is_set &&
        (event.ts < last.ts || (event.ts == last.ts && event.dur > last.dur && event.phase == 'X'));
    if (is_back) {
      if (++backwards_ <= kTold) Log(event, last);
    }
    last = {event.ts, event.dur, true};
    if (counts_kernels_ && event.phase == 'X' && run_.Traits(event).cmpt_exec) TakeKernel(event);
  }

  void LogAll() const {
    if (backwards_ > kTold)
      run_.console.Error(fmt::format("TS_SEQUENCE: {} events out of order in all", backwards_));
    if (overlaps_ > 0)
      run_.console.Warning(fmt::format(
          "TS_SEQUENCE: detected cycles overlapping (TS3[n] < TS4[n-1]) between cmpt_exec events "
          "within the same PID  {} / {} max overlap cycles:  {}",
          overlaps_, kernels_count_, max_overlap_));
  }

 private:
  static constexpr int64_t kTold = 5;

  void Log(const Event& event, const LastOnTrack& last) const {
    run_.console.Error(
        fmt::format("TS_SEQUENCE: '{}' of pid {} tid {} at {} us comes after an event at {} us",
                    run_.Text(event.name), event.pid.AsText(run_.strings),
                    event.tid.AsText(run_.strings), event.ts, last.ts));
  }

  void TakeKernel(const Event& event) {
    const auto cycles = CyclesOf(event, run_);
    if (!cycles) return;
    ++kernels_count_;
    LastExec& last = kernels_[event.pid];
    if (last.is_set && event.ts > last.ts && (*cycles)[2] < last.end) {
      ++overlaps_;
      max_overlap_ = std::max(max_overlap_, last.end - (*cycles)[2]);
    }
    last = {event.ts, (*cycles)[3], true};
  }

  Run& run_;
  const bool counts_kernels_;
  std::unordered_map<TrackKey, LastOnTrack, TrackHash> last_;
  TrackKey track_;  // of the event before: threads come in runs
  LastOnTrack* last_of_track_ = nullptr;
  ByValue<LastExec> kernels_;
  int64_t backwards_ = 0, overlaps_ = 0, kernels_count_ = 0, max_overlap_ = 0;
};

}  // namespace

void AssertTsSequence(EventList& events, Run& run) {
  SequenceChecker checker(run);
  for (const Event& event : events) checker.Take(event);
  checker.LogAll();
}

// assert_global_ts_sequence: the list is sorted by time; a profile may have left the sort out.

void AssertGlobalTsSequence(EventList& events, Run& run) {
  size_t wrong = 0;
  for (size_t i = 1; i < events.size(); ++i) wrong += events[i].ts < events[i - 1].ts;
  if (wrong > 0) {
    run.console.Error(
        fmt::format("TS_SEQUENCE: {} events lie before the one in front of them", wrong));
  }
}

// verify (-V): which phases the input has; others than slices and async events are told.

void Verify(EventList& events, Run& run) {
  std::map<char, int64_t> phases;
  for (const Event& event : events) ++phases[event.phase];
  int64_t others = 0;
  for (const auto& [phase, count] : phases) {
    if (std::string_view("XBEbe").find(phase) == std::string_view::npos) others += count;
  }
  if (others > 0)
    run.console.Error(fmt::format("VRF: {} events have other phases than X B E b e", others));
}

// Nothing is left of what ingestion added.
void VerifyCleanup(EventList&, Run& run) { run.jobs_are_named = true; }

}  // namespace debrief::accel
