// Which call of the host put a piece of work on a device, for all work of a timeline at once.
#pragma once

#include <cstdint>
#include <vector>

#include "model/timeline/view.h"

namespace debrief::timeline {

struct LaunchLinks {
  std::vector<int32_t> launch;  // by slice: the call; kNone32 when none is shown
  std::vector<int32_t> op;      // by slice: the innermost op around that call; kNone32 when none
};

// Of table timeline_launch.
LaunchLinks LaunchLinksOf(const TimelineView& view);

}  // namespace debrief::timeline
