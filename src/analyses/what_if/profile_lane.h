// The moments of one profile, and what they wait for inside of it.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/what_if/profile_graph.h"
#include "model/timeline/rank_windows.h"

namespace debrief::analyses::what_if {

using Edges = std::vector<std::pair<uint32_t, uint32_t>>;  // a moment, and one it waits for

// Reads one profile into the graph. Work that communicates has its moments noted by slice.
class LaneReader {
 public:
  LaneReader(const timeline::TimelineView& view, const timeline::NameMarks& marks,
             ProfileGraph& graph, Edges& edges);

  void Read();

  struct WorkMoments {
    uint32_t begin = kNoMoment, end = kNoMoment;
  };
  WorkMoments MomentsOf(int32_t slice) const;

  // Of most work; without them it is not known what it waits for.
  bool HasLaunches() const;

 private:
  struct Call {
    int64_t begin = 0, end = 0;
    int32_t slice = kNone32;  // none: a mark of a step
    int32_t step = -1;        // of a mark
    bool is_end = false;      // of a mark
    uint32_t at_begin = kNoMoment, at_end = kNoMoment;
  };
  struct Work {
    int32_t slice = kNone32;
    size_t call = SIZE_MAX;  // that launched it
    int64_t begin = 0, end = 0;
    std::pair<int32_t, int64_t> stream;
    uint32_t at_end = kNoMoment;
    int32_t step = -1;  // where no call tells it
    bool is_backward = false;
  };
  // A thread that launches: its last call that has ended, and those behind it.
  struct Thread {
    uint32_t last = kNoMoment;
    int64_t last_end = 0;
    std::vector<size_t> open;  // calls
  };

  void FindClock();
  void GatherCalls();
  void GatherMarks();
  void GatherWorks();
  void AddHost();
  void AddWorks();
  void AddDeviceWaits();
  void AddBusyTimes();
  uint32_t LastEnded(const Call& call);
  uint32_t WaitedFor(const Work& work, size_t before) const;
  uint32_t Add(Moment kind, int64_t time, int32_t step, int32_t slice);
  int64_t OnCommonClock(int64_t time) const { return graph_.lanes[lane_].clock.ToCommon(time); }
  bool IsStreamWait(const Call& call) const;
  int32_t CommonStep(size_t row) const;
  size_t RowOfStep(timeline::RowRange rows, int32_t step) const;
  bool IsBackward(int32_t op) const;

  const timeline::TimelineView& view_;
  const timeline::NameMarks& marks_;
  ProfileGraph& graph_;
  Edges& edges_;
  uint32_t lane_;

  std::vector<Call> calls_;
  std::unordered_map<int32_t, size_t> call_of_;  // by slice
  std::vector<Work> works_;                      // by begin
  std::unordered_map<int32_t, WorkMoments> moments_of_;
  std::map<int32_t, Thread> threads_;
  std::map<std::pair<int32_t, int64_t>, std::vector<size_t>> streams_;  // works
  std::vector<size_t> stream_waits_;                                    // calls
  std::unordered_map<uint64_t, uint32_t> seen_;                         // moments of a name
  int32_t step_ = -1;
};

}  // namespace debrief::analyses::what_if
