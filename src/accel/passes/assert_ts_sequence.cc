// assert_ts_sequence: within a thread times do not go back, and of equal ones the longest comes
// first. What is against it is told. Kernels of a rank whose cycles overlap are counted.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "accel/passes/cycles.h"
#include "accel/passes/passes.h"

namespace debrief::accel {

namespace {

struct Last {
  double ts = 0, dur = 0;
  bool is_set = false;
};

struct LastKernel {
  double ts = 0;
  int64_t end = 0;
  bool is_set = false;
};

// The first of these passes counts kernels, for all.
struct KernelsCounted {
  bool done = false;
};

class Checker {
 public:
  explicit Checker(Run& run)
      : run_(run), counts_kernels_(!std::exchange(run.Shared<KernelsCounted>().done, true)) {}

  void Take(const Event& event) {
    if (event.phase != 'X' && event.phase != 'b' && event.phase != 'e') return;
    if (last_of_track_ == nullptr || !(track_ == TrackKey{event.pid, event.tid})) {
      track_ = {event.pid, event.tid};
      last_of_track_ = &last_[track_];
    }
    Last& last = *last_of_track_;
    const bool is_back =
        last.is_set &&
        (event.ts < last.ts || (event.ts == last.ts && event.dur > last.dur && event.phase == 'X'));
    if (is_back) {
      if (++backwards_ <= kTold) Tell(event, last);
    }
    last = {event.ts, event.dur, true};
    if (counts_kernels_ && event.phase == 'X' && run_.Traits(event).cmpt_exec) TakeKernel(event);
  }

  void TellAll() const {
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

  void Tell(const Event& event, const Last& last) const {
    run_.console.Error(
        fmt::format("TS_SEQUENCE: '{}' of pid {} tid {} at {} us comes after an event at {} us",
                    run_.Text(event.name), event.pid.AsText(run_.strings),
                    event.tid.AsText(run_.strings), event.ts, last.ts));
  }

  void TakeKernel(const Event& event) {
    const auto cycles = CyclesOf(event, run_);
    if (!cycles) return;
    ++kernels_count_;
    LastKernel& last = kernels_[event.pid];
    if (last.is_set && event.ts > last.ts && (*cycles)[2] < last.end) {
      ++overlaps_;
      max_overlap_ = std::max(max_overlap_, last.end - (*cycles)[2]);
    }
    last = {event.ts, (*cycles)[3], true};
  }

  Run& run_;
  const bool counts_kernels_;
  std::unordered_map<TrackKey, Last, TrackHash> last_;
  TrackKey track_;  // of the event before: threads come in runs
  Last* last_of_track_ = nullptr;
  ByValue<LastKernel> kernels_;
  int64_t backwards_ = 0, overlaps_ = 0, kernels_count_ = 0, max_overlap_ = 0;
};

}  // namespace

void AssertTsSequence(EventList& events, Run& run) {
  Checker checker(run);
  for (const Event& event : events) checker.Take(event);
  checker.TellAll();
}

}  // namespace debrief::accel
