#include "accel/stages/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>

#include "accel/run.h"
#include "accel/stages/stages.h"
#include "compat/acelyzer/python_text.h"
#include "model/timeline/lanes.h"

namespace debrief::accel {

Value FreeTids::Next(const Value& pid, const Value& tid) {
  uint64_t number = tid.IsInteger() ? static_cast<uint64_t>(tid.integer) : 0;
  Value next;
  do {
    next = Value::Unsigned(++number);
  } while (!used_.insert({pid, next}).second);
  return next;
}

bool OpenEnds::Conflicts(double start, double end) const {
  return std::any_of(ends_.begin(), ends_.end(),
                     [&](double open) { return start < open && open < end; });
}

double OpenEnds::Overlap(double start, double end) const {
  double overlap = 0;
  for (double open : ends_) {
    if (open <= end) overlap = std::max(overlap, open - start);
  }
  return overlap;
}

void OpenEnds::CloseBefore(double start) {
  std::erase_if(ends_, [&](double open) { return open < start; });
}

// detect_partial_overlap_events: slices of one track must lie apart or inside each other; viewers
// drop others.
//
//   tid     a slice that overlaps moves to the next lane (a thread of its own) where it does not
//   async   it becomes a pair of async events
//   drop    it is left out
//   shift   an overlap below 5 ns is a rounding error: the slice begins a little later; others as
//   with tid warn    it is told
//
// Lanes are those of model/timeline/lanes.h, without limit. Times are compared on a grid of a
// nanosecond, or what a double can tell apart at the time of the event.

namespace {

// Whether times of each thread go forward; threads come in runs.
bool IsInOrder(const EventList& events) {
  std::unordered_map<TrackKey, double, TrackHash> last;
  double* track = nullptr;
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    const bool is_same = i > 0 && events[i - 1].pid == event.pid && events[i - 1].tid == event.tid;
    if (!is_same) track = &last.try_emplace({event.pid, event.tid}, event.ts).first->second;
    if (event.ts < *track || (is_same && event.ts == *track && event.dur > events[i - 1].dur))
      return false;
    *track = event.ts;
  }
  return true;
}

// One track after the other, in the order of time.
class LaneResolver final : public OverlapResolver {
 public:
  using OverlapResolver::OverlapResolver;

  void Apply(EventList& events) {
    out_.reserve(events.size());
    for (const Event& event : events) {
      if (event.phase == 'X') free_.Use(event.pid, event.tid);
    }
    size_t begin = 0;
    while (begin < events.size()) {
      size_t end = begin + 1;
      while (end < events.size() && events[end].pid == events[begin].pid &&
             events[end].tid == events[begin].tid)
        ++end;
      Track({events.data() + begin, end - begin});
      begin = end;
    }
    Log();
  }

 private:
  // Of one thread: tests, and the threads of its lanes.
  struct State {
    timeline::Lanes<double> lanes;
    std::vector<Value> tids;
    OpenEnds open;
  };

  void Track(std::span<Event> events) {
    State& state = states_[{events[0].pid, events[0].tid}];
    if (state.tids.empty()) state.tids.push_back(events[0].tid);
    for (Event& event : events) {
      EndAsync(event.ts);
      event.phase == 'X' ? Place(event, state) : Keep(event);
    }
    EndAsync(std::numeric_limits<double>::infinity());
  }

  static double Grid(double ts) {
    const double ulp = std::nextafter(std::abs(ts), 1e300) - std::abs(ts);
    return std::max(0.001, 2 * ulp);
  }

  void Place(Event& event, State& state) {
    const double grid = Grid(event.end());
    const double start = std::round(event.ts / grid), end = std::round(event.end() / grid);
    const Overlap how = run_.options.overlap;
    if (how == Overlap::kTid || how == Overlap::kShift) {
      const size_t lane = state.lanes.Place(start, end);
      while (lane >= state.tids.size())
        state.tids.push_back(free_.Next(event.pid, state.tids.back()));
      if (lane > 0) MoveToLane(event, lane, state.tids[lane]);
      return Keep(event);
    }
    state.open.CloseBefore(start);
    if (!state.open.Conflicts(start, end)) {
      state.open.Push(end);
      return Keep(event);
    }
    if (how == Overlap::kAsync) return MakeAsync(event);
    ++resolved_;
    if (how == Overlap::kWarn) Keep(event);
  }

  // A thread whose name comes back at the end has a name for its lane, too.
  void MoveToLane(Event& event, size_t lane, const Value& tid) {
    ++resolved_;
    event.tid = tid;
    const Arg* name = event.Find(key::kOTid);
    if (name == nullptr) return;
    const std::string text = fmt::format("{} ({})", name->value().AsText(run_.strings), lane + 1);
    run_.args.Set(event, key::kOTid, Value::Text(run_.Intern(text)));
  }

  FreeTids free_;
  std::unordered_map<TrackKey, State, TrackHash> states_;
};

}  // namespace

void DetectPartialOverlapEvents(EventList& events, Run& run) {
  if (!IsInOrder(events)) SortEvents(events, run);
  LaneResolver resolver(run);
  resolver.Apply(events);
  events = resolver.Take();
}

}  // namespace debrief::accel
