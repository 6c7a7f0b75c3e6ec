// Devices of a timeline: which rank each belongs to, and whose they are.
#pragma once

#include <cstddef>
#include <string_view>

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

// The name of a data file of kernel_category.h, by what the timeline says of its devices, or else
// by the first call of a runtime that tells; empty when nothing does.
std::string_view VendorOf(const timeline::TimelineView& view);

}  // namespace debrief::accel
