// Threads that slices may move to, and the reference's test for partial overlap.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "accel/event.h"

namespace debrief::accel {

// Numbers of threads of each process that no slice has.
class FreeTids {
 public:
  void Use(const Value& pid, const Value& tid) { used_.insert({pid, tid}); }
  // The next number behind `tid` that is free; it is used then.
  Value Next(const Value& pid, const Value& tid);

 private:
  std::unordered_set<TrackKey, TrackHash> used_;
};

// What detect_partial_overlap_tids reserves: the lanes of each thread, in order.
struct OverlapLanes {
  FreeTids free;
  std::unordered_map<TrackKey, Value, TrackHash> next;  // from a thread, or lane, to the next lane
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

}  // namespace debrief::accel
