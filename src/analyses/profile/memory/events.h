// The [memory] events of a profile, with what was around them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_memory {

// What the program was doing.
enum class Phase : uint8_t { kForward, kBackward, kOptimiser };  // forward: none of the others

struct MemoryEvent {
  int64_t time = 0;
  int64_t bytes = 0;  // negative: freed
  int64_t address = kNone64;
  int64_t allocated = 0;        // total after it
  int64_t reserved = kNone64;   // total after it
  int32_t op = kNone32;         // slice: innermost op
  int32_t module = kNone32;     // slice
  int64_t outer_end = kNone64;  // when the outermost op around it ends
  Phase phase = Phase::kForward;
};

// Of one device.
struct DeviceEvents {
  int32_t device_type = kNone32;
  int32_t device = kNone32;
  bool totals_known = true;
  std::vector<MemoryEvent> events;  // by time
};

// What was alive at `peak`, one of the events, by what it was for (categories.cc).
void AddCategories(const timeline::TimelineView& view, const DeviceEvents& device,
                   const MemoryEvent& peak, Part& part);

}  // namespace debrief::analyses::profile_memory
