// Gives the slices of a Flex trace the times that the cycle counter of the device tells.
//
//   host   B "bmm Cmpt Exec" ---------- E        the host's end is the anchor,
//   device              TS3 ------- TS4          the interval of the event's phase the duration
//
//   phase      interval     kind of slice
//   DmaI       TS1 TS2      memcpy; of a collective kernel, which is then communication by its name
//   Cmpt Prep  TS2 TS3      queue
//   Cmpt Exec  TS3 TS4      kernel
//   DmaO       TS4 TS5      as DmaI
//   none       TS1 TS5      kernel
//
// Events with stamps go to tracks of the device, whose number is the pid (the rank); what is left
// on the threads are functions of the runtime. Cost: sorts the events of each device.
#pragma once

#include <cstdint>
#include <span>

#include "model/model.h"

namespace debrief::accel {

// Between the pairing and the sorting of slices (model/timeline/writer.h). Fills accel_rate,
// timeline_device and timeline_device_work. `open_slices`: rows of slices whose end the file does
// not have; of these the begin is the anchor.
void ArrangeFlexSlices(const Identity& who, std::span<const uint32_t> open_slices, Part& whole);

}  // namespace debrief::accel
