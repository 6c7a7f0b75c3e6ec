// What the threads of the host did at a time, and which of it keeps them from launching.
//
// A name is classed once. For each thread the slices of a class are a set of time; "most of the
// gap" is then one search in it. Slices of a thread are walked only where gaps are.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/stats/intervals.h"
#include "model/timeline/view.h"

namespace debrief::timeline {

enum class HostClass : uint8_t { kPlain, kDataLoading, kCompile, kMemoryAllocation, kSync, kStep };
inline constexpr size_t kHostClasses = 6;

// `is_runtime`: a call of CUDA's or HIP's runtime or driver.
HostClass HostClassOf(std::string_view name, bool is_runtime);

class HostNames {
 public:
  explicit HostNames(const Model& model);
  HostClass Of(const TimelineView& view, int32_t slice) {
    const size_t at = TimelineView::At(slice);
    return (view.kind[at] == view.kinds.runtime ? calls_ : others_)(view.name[at]);
  }

 private:
  OfName<HostClass> calls_, others_;
};

class HostActivity {
 public:
  HostActivity(const TimelineView& view, HostNames& names);

  // Whether slices of the class cover more than half of `time` on the track.
  bool CoversMost(int32_t track, HostClass host_class, Interval time) const;

  // The innermost slice in which the thread waits for the device at `time`; kNone32 when in none.
  int32_t WaitingAt(int32_t track, int64_t time) const;

  // The innermost slice that covers more than half of `time`, else the one that covers most; marks
  // of steps left out. kNone32 when there is none.
  int32_t BusiestSlice(int32_t track, Interval time) const;
  bool CoversMost(int32_t slice, Interval time) const;

 private:
  struct Track {
    std::array<IntervalSet, kHostClasses> times;
    std::vector<int32_t> waits;  // slices of class kSync
  };

  int32_t LastBegunBy(int32_t track, int64_t time) const;
  int64_t Cover(int32_t slice, Interval time) const;

  const TimelineView& view_;
  std::vector<uint8_t> classes_;  // by slice
  std::vector<Track> tracks_;
};

}  // namespace debrief::timeline
