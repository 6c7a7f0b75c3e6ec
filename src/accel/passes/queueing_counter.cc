// queueing_counter (prep_queue): slices of Prep become a counter of how many run at a time, a
// counter a rank.
//
//   [0,100) [10,20) [30,40)   ->   1 at 0, 2 at 10, 1 at 20, 2 at 30, 1 at 40, 0 at 100
//
// The reference counts nested ones wrong (1, 2, 0, 1, 0, 0); --compat does as it does.
#include <algorithm>
#include <deque>

#include "accel/categories.h"
#include "accel/passes/helpers.h"
#include "accel/passes/passes.h"

namespace debrief::accel {

namespace {

struct Point {
  double ts = 0;
  int64_t count = 0;
};

// The reference's break points of one rank.
struct Points {
  std::deque<Point> points;
  int64_t last_emitted = 0;
};

constexpr CounterName kCounter = {key::kConcurrentPreps, key::kPendingPreps, key::kConcurrency};

Event MakeCount(const Value& pid, const Point& point, Run& run) {
  Event event = MakeCounter(kCounter, pid, point.ts, 0, run);
  run.args.Set(event, key::kConcurrency, Value::Integer(point.count));
  return event;
}

class ReferenceCounter {
 public:
  ReferenceCounter(Run& run, EventList& out) : run_(run), out_(out) {}

  void Take(const Event& prep) {
    Points& state = ranks_[prep.pid];
    Emit(prep.pid, state, prep.ts);
    std::deque<Point>& points = state.points;
    const double begin = prep.ts, end = prep.end();
    const bool has_inner = !points.empty() && points.front().ts < end;
    std::deque<Point> merged;
    int64_t at_end = 0;
    if (!has_inner || begin < points.front().ts) merged.push_back({begin, state.last_emitted + 1});
    size_t i = 0;
    for (; i < points.size() && points[i].ts < end; ++i) {
      at_end = points[i].count;
      merged.push_back({points[i].ts, points[i].count + 1});
    }
    merged.push_back({end, at_end});
    merged.insert(merged.end(), points.begin() + static_cast<ptrdiff_t>(i), points.end());
    points = std::move(merged);
  }

  void Drain() {
    for (auto& [pid, state] : ranks_) Emit(pid, state, std::numeric_limits<double>::infinity());
  }

 private:
  void Emit(const Value& pid, Points& state, double before) {
    while (!state.points.empty() && state.points.front().ts < before) {
      state.last_emitted = state.points.front().count;
      out_.push_back(MakeCount(pid, state.points.front(), run_));
      state.points.pop_front();
    }
  }

  Run& run_;
  EventList& out_;
  ByValue<Points> ranks_;
};

// Starts and ends in the order of time; of equal times ends first, so that neighbours do not count
// twice.
void Sweep(const Value& pid, std::vector<Point>& changes, Run& run, EventList& out) {
  std::stable_sort(changes.begin(), changes.end(), [](const Point& a, const Point& b) {
    return a.ts != b.ts ? a.ts < b.ts : a.count < b.count;
  });
  int64_t count = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    count += changes[i].count;
    if (i + 1 == changes.size() || changes[i + 1].ts != changes[i].ts)
      out.push_back(MakeCount(pid, {changes[i].ts, count}, run));
  }
}

void CountAsReference(EventList& events, Run& run) {
  EventList out;
  out.reserve(events.size());
  ReferenceCounter counter(run, out);
  for (const Event& event : events) {
    const bool is_prep = event.phase == 'X' && IsPrep(event, run);
    if (is_prep) counter.Take(event);
    if (!is_prep || run.options.keep_prep) out.push_back(event);
  }
  counter.Drain();
  events = std::move(out);
}

void CountBySweep(EventList& events, Run& run) {
  ByValue<std::vector<Point>> ranks;
  std::erase_if(events, [&](const Event& event) {
    if (event.phase != 'X' || !IsPrep(event, run)) return false;
    std::vector<Point>& changes = ranks[event.pid];
    changes.push_back({event.ts, 1});
    changes.push_back({event.end(), -1});
    return !run.options.keep_prep;
  });
  for (auto& [pid, changes] : ranks) Sweep(pid, changes, run, events);
}

}  // namespace

void QueueingCounter(EventList& events, Run& run) {
  run.options.compat ? CountAsReference(events, run) : CountBySweep(events, run);
}

}  // namespace debrief::accel
