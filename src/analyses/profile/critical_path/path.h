// The critical path of a window: from its last thing back to its beginning, each time to that of
// the things it had to wait for which ended last.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyses/profile/critical_path/device_order.h"
#include "analyses/profile/critical_path/host_runs.h"

namespace debrief::analyses::profile_critical_path {

enum class Bound : uint8_t {
  kCpu,
  kDataLoading,
  kGpuCompute,
  kGpuCommunication,
  kGpuMemcpy,
  kKernelLaunchDelay,
  kKernelKernelDelay
};
inline constexpr size_t kBounds = 7;
std::string_view BoundName(Bound bound);

struct Segment {
  Interval time;
  int32_t slice = kNone32;
  int32_t track = kNone32;
  Bound bound = Bound::kCpu;
  std::string_view edge;  // why it could not begin earlier, as tables.def has it
};

// In order of time, without holes. It begins later than the window when nothing tells why the first
// work began when it did. Cost: a binary search for each segment.
std::vector<Segment> CriticalPath(const timeline::TimelineView& view, const HostRuns& host,
                                  const DeviceOrder& devices, Interval window);

}  // namespace debrief::analyses::profile_critical_path
