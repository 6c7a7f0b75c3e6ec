// Which rank a device of a timeline belongs to.
#pragma once

#include <cstddef>

#include "model/timeline/view.h"

namespace debrief::accel {

// Devices of the timeline whose work carries stamps of a cycle counter.
size_t StampedDevices(const timeline::TimelineView& view);

// A timeline is of one rank, which may use several devices; but a file of several ranks of AIUs
// numbers the devices by them.
inline Identity OwnerOf(const timeline::TimelineView& view, int32_t device,
                        size_t stamped_devices) {
  Identity who = view.who;
  if (stamped_devices > 1 || (stamped_devices == 1 && who.rank == kNone32)) who.rank = device;
  return who;
}

}  // namespace debrief::accel
