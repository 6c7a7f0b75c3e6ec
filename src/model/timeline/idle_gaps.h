// The gaps between the work of a device and what each was waited for.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/stats/intervals.h"
#include "model/timeline/device_time.h"
#include "model/timeline/host_activity.h"
#include "model/timeline/launch_links.h"
#include "model/timeline/view.h"

namespace debrief::timeline {

enum class Cause : uint8_t {
  kDataLoading,
  kSync,
  kCompile,
  kMemoryAllocation,
  kHost,
  kKernelWait,
  kGraph,
  kOther
};
inline constexpr size_t kCauses = 8;
std::string_view CauseName(Cause cause);

// Whether the host could have launched earlier.
bool IsOfHost(Cause cause);

struct Gap {
  Interval time;
  int32_t device = kNone32;
  int32_t work = kNone32;    // behind it: slice
  int32_t launch = kNone32;  // of that work; none when not shown
  int32_t op = kNone32;      // around the launch
  int32_t host = kNone32;    // slice in which the launching thread spent the gap
  bool host_covers_most = false;
  Cause cause = Cause::kOther;
};

// Of all devices, by device and time. Linear but for searches in sorted columns.
std::vector<Gap> FindGaps(const TimelineView& view, const DeviceWorks& works,
                          const HostActivity& activity);

}  // namespace debrief::timeline
