// What was alive at a moment, by the op and the module that had allocated it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyses/profile/memory/events.h"

namespace debrief::analyses::profile_memory {

struct Holder {
  StringId op = StringId::kNone;
  StringId module = StringId::kNone;
  int64_t allocations = 0;
  int64_t bytes = 0;
};

// After the last of `events`, which begin with the recording: largest first. An address that is
// allocated again without a free was freed unseen.
std::vector<Holder> AliveAfter(const timeline::TimelineView& view,
                               std::span<const MemoryEvent> events);

}  // namespace debrief::analyses::profile_memory
