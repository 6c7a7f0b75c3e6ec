// What resolvers of partial overlaps share: threads that slices may move to, ends of open slices,
// async pairs.
#pragma once

#include <fmt/format.h>

#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "accel/event.h"
#include "accel/run.h"

namespace debrief::accel {

// Threads that slices may move to, and the reference's test for partial overlap.

// Numbers of threads of each process that no slice has.
class FreeTids {
 public:
  void Use(const Value& pid, const Value& tid) { used_.insert({pid, tid}); }
  // The next number behind `tid` that is free; it is used then.
  Value Next(const Value& pid, const Value& tid);

 private:
  std::unordered_set<TrackKey, TrackHash> used_;
};

// Ends of the slices of one track that are open. An end inside of a new slice is a conflict.
class OpenEnds {
 public:
  bool Conflicts(double start, double end) const;
  void Push(double end) { ends_.push_back(end); }
  // The largest distance of an end that lies in the slice from its start.
  double Overlap(double start, double end) const;
  void CloseBefore(double start);

 private:
  std::vector<double> ends_;
};

// What all modes need: counts, async pairs.
class OverlapResolver {
 public:
  explicit OverlapResolver(Run& run) : run_(run) {}
  OverlapResolver(const OverlapResolver&) = delete;

  EventList Take() { return std::move(out_); }

  void Log() const {
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

}  // namespace debrief::accel
