// What cause and effect say of the clock of a device: nothing runs before it is launched, and what
// a call waited for has ended when the call returns.
//
//   host    [launch]            [ cudaDeviceSynchronize ]
//   device      [ kernel ]
//           |---| at least 0             |--| at least 0
//
// Cost: sorts the works and the waits.
#pragma once

#include <cstdint>
#include <vector>

#include "model/timeline/device_time.h"
#include "model/timeline/launch_links.h"

namespace debrief::analyses::accel_clock {

// Profilers of old wrote whole microseconds.
inline constexpr int64_t kToleranceNs = 1000;

struct Causality {
  int32_t device = kNone32;
  int64_t launches = 0, early = 0, worst_early_ns = kNone64;
  int64_t waits = 0, late = 0, worst_late_ns = kNone64;
  int64_t lower_ns = kNone64, upper_ns = kNone64;

  std::string_view State() const;
};

// One for each device that has work, in order of device.
std::vector<Causality> CausalityOf(const timeline::TimelineView& view,
                                   const timeline::DeviceWorks& works);

}  // namespace debrief::analyses::accel_clock
