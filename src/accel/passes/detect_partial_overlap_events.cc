// detect_partial_overlap_events: slices of one track must lie apart or inside each other; viewers
// drop others.
//
//   tid     a slice that overlaps moves to the next lane (a thread of its own) where it does not
//   async   it becomes a pair of async events
//   drop    it is left out
//   shift   an overlap below 5 ns is a rounding error: the slice begins a little later; others as
//   with tid warn    it is told
//
// Without --compat lanes are those of model/accel/lanes.h, without limit. Times are compared on a
// grid of a nanosecond, or what a double can tell apart at the time of the event.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>

#include "accel/passes/helpers.h"
#include "accel/passes/overlap.h"
#include "accel/passes/passes.h"
#include "model/accel/lanes.h"
#include "model/accel/python_float.h"

namespace debrief::accel {

namespace {

constexpr double kRoundingErrorUs = 0.005;

// What all modes need: counts, async pairs.
class Resolver {
 public:
  explicit Resolver(Run& run) : run_(run) {}
  Resolver(const Resolver&) = delete;

  EventList Take() { return std::move(out_); }

  void Tell() const {
    run_.console.Line(resolved_ > 0 ? Level::kWarning : Level::kInfo,
                      fmt::format("Partial-overlap slices resolved: {}", resolved_));
  }

 protected:
  void Keep(const Event& event) { out_.push_back(event); }

  void MakeAsync(Event event) {
    ++resolved_;
    if (event.cat == StringId::kNone || event.cat == key::kEmpty)
      event.cat = run_.Intern("overlap");
    run_.args.Own(event);
    run_.args.Set(event, key::kId, Value::Integer(++last_id_), ArgPlace::kTop);
    Event end = event;
    run_.args.Own(end);
    event.phase = 'b';
    end.phase = 'e';
    end.ts = event.end();
    for (Event* half : {&event, &end}) {
      half->dur = 0;
      half->has_dur = false;
    }
    end.stamps = kNoStamps;
    out_.push_back(event);
    ends_.push(end);
  }

  // Ends of async pairs stand where their time is.
  void EndAsync(double before) {
    while (!ends_.empty() && ends_.top().ts <= before) {
      out_.push_back(ends_.top());
      ends_.pop();
    }
  }

  struct Later {
    bool operator()(const Event& a, const Event& b) const { return a.ts > b.ts; }
  };

  Run& run_;
  EventList out_;
  int64_t resolved_ = 0;

 private:
  int64_t last_id_ = 0;
  std::priority_queue<Event, std::vector<Event>, Later> ends_;
};

// As the reference does it, event by event.
class ReferenceResolver final : public Resolver {
 public:
  using Resolver::Resolver;

  void Apply(const EventList& events) {
    for (const Event& event : events) {
      if (run_.options.overlap == Overlap::kAsync) EndAsync(event.ts);
      event.phase == 'X' ? Place(event) : Keep(event);
    }
    EndAsync(std::numeric_limits<double>::infinity());
    Tell();
  }

 private:
  OpenEnds& Open(const Event& event) { return open_[{event.pid, event.tid}]; }

  void Place(Event event) {
    while (true) {
      OpenEnds& open = Open(event);
      const double end = PythonRound(event.end(), 4);
      if (!open.Conflicts(event.ts, end)) {
        open.Push(end);
        open.CloseBefore(event.ts);
        return Keep(event);
      }
      if (!Resolve(event, open, end)) return open.CloseBefore(event.ts);
    }
  }

  // True when the event must be tested again.
  bool Resolve(Event& event, OpenEnds& open, double end) {
    switch (run_.options.overlap) {
      case Overlap::kTid:
        ++resolved_;
        open.CloseBefore(event.ts);
        event.tid = NextLane(event);
        return true;
      case Overlap::kShift:
        if (Shift(event, open.Overlap(event.ts, end))) return true;
        break;
      case Overlap::kAsync:
        MakeAsync(event);
        return false;
      case Overlap::kDrop:
        ++resolved_;
        run_.console.Warning(fmt::format("Solving overlap conflict by dropping: {} at {} us",
                                         run_.Text(event.name), event.ts));
        return false;
      case Overlap::kWarn:
        break;
    }
    run_.console.Warning(
        fmt::format("Overlap conflict: {} at {} us", run_.Text(event.name), event.ts));
    Keep(event);
    return false;
  }

  Value NextLane(const Event& event) {
    auto& lanes = run_.Shared<OverlapLanes>();
    const TrackKey from = {event.pid, event.tid};
    const auto next = lanes.next.find(from);
    if (next != lanes.next.end()) return next->second;
    const Value lane = lanes.free.Next(event.pid, event.tid);
    lanes.next[from] = lane;
    return lane;
  }

  bool Shift(Event& event, double overlap) {
    if (!(overlap < kRoundingErrorUs) || event.Has(key::kOrigTs)) return false;
    ++resolved_;
    const double by = PythonRound(overlap + 0.0015, 3);
    run_.args.Set(event, key::kOrigTs, Value::Number(event.ts));
    event.ts += by;
    if (overlap <= event.dur) {
      run_.args.Set(event, key::kOrigDur, Value::Number(event.dur));
      event.dur -= by;
    }
    return true;
  }

  std::unordered_map<TrackKey, OpenEnds, TrackHash> open_;
};

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
class LaneResolver final : public Resolver {
 public:
  using Resolver::Resolver;

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
    Tell();
  }

 private:
  // Of one thread: tests, and the threads of its lanes.
  struct State {
    Lanes lanes;
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
  if (run.options.compat) {
    ReferenceResolver resolver(run);
    resolver.Apply(events);
    events = resolver.Take();
  } else {
    if (!IsInOrder(events)) SortEvents(events, run);
    LaneResolver resolver(run);
    resolver.Apply(events);
    events = resolver.Take();
  }
}

}  // namespace debrief::accel
