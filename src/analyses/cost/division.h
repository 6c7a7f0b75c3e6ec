// One timeline divided into states, moment by moment.
//
//   device     |gemm|   |ncclAllReduce...........|          |gemm|
//   last rank                          |nccl.....|
//   states     |comp|pace|wait         |transfer |host      |comp|
//
// Claims are laid over the timeline in order of precedence; each takes what those before it left.
// What nobody claims is unknown. So the segments are disjoint and cover the timeline, whatever the
// input, and every sum over them adds up.
//
// Cost: one pass over the slices and one merge for each kind of claim, but for sorting.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/cost/compile_times.h"
#include "analyses/cost/states.h"
#include "base/stats/intervals.h"
#include "model/timeline/device_class.h"
#include "model/timeline/host_activity.h"
#include "model/timeline/view.h"

namespace debrief::analyses::cost {

struct Segment {
  Interval time;
  State state = State::kUnknown;
  // kWait and kTransfer: row of profile_collective_wait. kCompile: id of the compilation's name, a
  // StringId; kNone64 when not known.
  int64_t row = kNone64;
};

struct Division {
  Identity who;
  bool by_device = false;
  bool from_steps = false;
  int64_t window_count = 0;
  IntervalSet windows;            // what counts: the steps, else the whole recording
  std::vector<Interval> steps;    // by time, disjoint
  std::vector<Segment> segments;  // by time
};

// Lays claims over what is left of a timeline.
class Layers {
 public:
  explicit Layers(Interval whole) : rest_(Union(std::vector<Interval>{whole})) {}

  // Claims of one precedence, in any order; where they overlap the one that began first has it.
  void Lay(std::vector<Segment> claims);

  // What is left goes to `state`; then all segments by time.
  std::vector<Segment> Finish(State state);

 private:
  IntervalSet rest_;
  std::vector<Segment> segments_;
};

// By row of profile_collective: the row of profile_collective_wait, where its waiting is known;
// kNone64 otherwise.
std::vector<int64_t> WaitRows(const Model& model);

// What all divisions share.
struct Shared {
  explicit Shared(const Model& model)
      : classes(model), host_names(model), wait_rows(WaitRows(model)), compiling(model) {}
  timeline::DeviceClasses classes;
  timeline::HostNames host_names;
  std::vector<int64_t> wait_rows;
  CompileTimes compiling;
};

// No segments when the timeline shows neither work of a device nor ops.
Division Divide(const timeline::TimelineView& view, Shared& shared);

// Time in each state within the windows.
StateTimes TimesIn(const Division& division);

// Time in each state, step by step.
std::vector<StateTimes> TimesOfSteps(const Division& division);

// Calls take(segment, nanoseconds) for the part of every segment that lies in the windows.
template <typename Take>
void ForEachInWindows(const Division& division, Take take) {
  size_t window = 0;
  for (const Segment& segment : division.segments) {
    while (window < division.windows.size() && division.windows[window].end <= segment.time.begin)
      ++window;
    for (size_t i = window;
         i < division.windows.size() && division.windows[i].begin < segment.time.end; ++i) {
      const int64_t begin = std::max(division.windows[i].begin, segment.time.begin);
      const int64_t end = std::min(division.windows[i].end, segment.time.end);
      if (begin < end) take(segment, end - begin);
    }
  }
}

}  // namespace debrief::analyses::cost
