// Host and device time of groups of slices that may be inside of one another.
//
//   aten::linear [ aten::addmm [ cudaLaunchKernel ] ]   group of a slice: its name, its module, ...
//   device                        [ kernel ]            counts for addmm and for linear
//
// Slices that are in no group are looked through. Time on the host is added up exactly: of slices
// inside of each other that are in one group only the outermost counts for its total, and own time
// is a slice's time less that of the members inside of it. Time on a device is the union of what
// ran there. Cost: one pass over the slices, and work times the depth of members around it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/timeline/view.h"

namespace debrief::analyses::profile_ops {

struct GroupTimes {
  int64_t count = 0;
  int64_t host_total = 0, host_self = 0;
  int64_t device_total = 0, device_self = 0;
  int64_t works = 0;
  int32_t first = kNone32;  // its first slice
};

// Something that ran on a device and the slice of the host that it came from.
struct Launched {
  int32_t device = 0;
  int64_t start = 0, end = 0;
  int32_t host = kNone32;
};

class NestedGroups {
 public:
  // `group`: by slice; kNone32 for those in none. Numbers are below `groups`.
  NestedGroups(const timeline::TimelineView& view, std::span<const int32_t> group, size_t groups);

  // `works` by device and start.
  void AddDeviceTime(std::span<const Launched> works);

  const std::vector<GroupTimes>& times() const { return times_; }

  // The innermost member around a slice without the slice itself; kNone32 when none.
  int32_t Around(int32_t member) const { return around_[timeline::TimelineView::At(member)]; }

 private:
  void AddHostTime();
  void Enter(int32_t slice, std::vector<int32_t>& open);
  void Leave(std::vector<int32_t>& open);

  const timeline::TimelineView& view_;
  std::span<const int32_t> group_;
  std::vector<GroupTimes> times_;
  std::vector<int32_t> around_;       // by slice
  std::vector<int64_t> covered_end_;  // by slice: until where members inside are counted already
  std::vector<int32_t> open_count_;   // by group: members of it that are open
};

}  // namespace debrief::analyses::profile_ops
