// The [memory] events of one timeline, in order of time, with the op and module around each.
#pragma once

#include <cstdint>
#include <vector>

#include "model/timeline/view.h"

namespace debrief::analyses::profile_memory {

// Sums of what files tell may not fit: they stay at the end of the range.
int64_t Plus(int64_t a, int64_t b);

struct MemoryEvent {
  int64_t time = 0;
  int64_t bytes = 0;  // negative: freed
  int64_t address = kNone64;
  int64_t allocated = 0;       // total after it
  int64_t reserved = kNone64;  // total after it
  int32_t op = kNone32;        // slice
  int32_t module = kNone32;    // slice
};

// Of one device.
struct DeviceEvents {
  int32_t device_type = kNone32;
  int32_t device = kNone32;
  bool totals_known = true;
  std::vector<MemoryEvent> events;
};

// By type and number of the device. Events that do not tell how many bytes are left out. Cost: a
// sort of the events and, for each, a walk up the slices around it.
std::vector<DeviceEvents> MemoryEventsOf(const timeline::TimelineView& view);

}  // namespace debrief::analyses::profile_memory
