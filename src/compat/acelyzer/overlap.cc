// detect_partial_overlap_tids reserves lanes behind each thread, where nobody has them;
// detect_partial_overlap_events tests event by event and moves what overlaps to the next lane.
#include "accel/stages/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compat/acelyzer/python_text.h"
#include "compat/acelyzer/reference.h"

namespace debrief::accel::reference {

namespace {

constexpr double kRoundingErrorUs = 0.005;

// What detect_partial_overlap_tids reserves: the lanes of each thread, in order.
struct OverlapLanes {
  FreeTids free;
  std::unordered_map<TrackKey, Value, TrackHash> next;  // from a thread, or lane, to the next lane
};

void Reserve(OverlapLanes& lanes, const TrackKey& track, int64_t count) {
  TrackKey from = track;
  for (int64_t i = 0; i < count; ++i) {
    const Value lane = lanes.free.Next(track.pid, from.tid);
    lanes.next[from] = lane;
    from.tid = lane;
  }
}

}  // namespace

void DetectPartialOverlapTids(EventList& events, Run& run) {
  auto& lanes = run.Shared<OverlapLanes>();
  std::vector<TrackKey> tracks;
  std::unordered_set<TrackKey, TrackHash> known;
  for (const Event& event : events) {
    if (event.phase != 'X') continue;
    const TrackKey track = {event.pid, event.tid};
    if (known.insert(track).second) tracks.push_back(track);
    lanes.free.Use(event.pid, event.tid);
  }
  const int64_t count = std::max<int64_t>(run.options.max_tid_streams, 1);
  for (const TrackKey& track : tracks) Reserve(lanes, track, count);
}

namespace {

// Event by event, on lanes that detect_partial_overlap_tids has reserved.
class ReferenceResolver final : public OverlapResolver {
 public:
  using OverlapResolver::OverlapResolver;

  void Apply(const EventList& events) {
    for (const Event& event : events) {
      if (run_.options.overlap == Overlap::kAsync) EndAsync(event.ts);
      event.phase == 'X' ? Place(event) : Keep(event);
    }
    EndAsync(std::numeric_limits<double>::infinity());
    Log();
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

}  // namespace

void DetectPartialOverlapEvents(EventList& events, Run& run) {
  ReferenceResolver resolver(run);
  resolver.Apply(events);
  events = resolver.Take();
}

}  // namespace debrief::accel::reference
