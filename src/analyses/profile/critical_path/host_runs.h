// What each thread of the host did, without overlaps: the innermost call at every moment.
//
//   aten::linear   [----------------------]
//   aten::addmm        [--------------]           runs: linear, addmm, cudaLaunchKernel, addmm,
//   linear cudaLaunchKernel       [----]
//
// Calls are ops, calls of the runtime and the profiler's marks of the data loader. Python frames
// and annotations are none: a frame that waits for another thread covers all of its time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/stats/intervals.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_critical_path {

struct HostRun {
  int64_t begin = 0;
  int64_t end = 0;  // behind begin
  int32_t slice = kNone32;
  int32_t track = kNone32;
  bool is_loading = false;  // in the data loader
};

class HostRuns {
 public:
  // Of calls that begin in `window`. Cost: linear in the slices there.
  HostRuns(const timeline::TimelineView& view, Interval window);

  // The last run of a thread that begins before `time`; null when there is none.
  const HostRun* Before(int32_t track, int64_t time) const;

  // The run with which another thread finished an outermost call, no later than `time`, last of
  // all; null when that thread was busy again by then.
  const HostRun* LastHandover(int32_t track, int64_t time) const;

  const HostRun* Last() const;  // the one that ends last; null when there is none

  bool empty() const { return runs_.empty(); }
  int64_t calls() const { return calls_; }
  int64_t order_edges() const;

 private:
  void AddTrack(const timeline::TimelineView& view, int32_t track, Interval window,
                std::vector<uint8_t>& loading_names);

  std::vector<HostRun> runs_;      // by track and time
  std::vector<size_t> first_run_;  // by track; one more at the end
  std::vector<size_t> finals_;     // runs that end an outermost call, by end
  int64_t calls_ = 0;
};

}  // namespace debrief::analyses::profile_critical_path
