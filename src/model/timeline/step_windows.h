// The time that belongs to each step, host and device together.
//
// A device runs behind the host: what a step launched may run when the host is in the next one. A
// window begins where the host begins the step or the window before ends, whichever is later, and
// ends with the host's step or the last work launched in it. Windows do not overlap.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stats/intervals.h"
#include "model/timeline/view.h"

namespace debrief::timeline {

struct StepWindow {
  int32_t step = kNone32;
  Interval time;
  int64_t launches = 0;
};

// Of table timeline_step; empty when the timeline has no steps.
std::vector<StepWindow> StepWindowsOf(const TimelineView& view);

}  // namespace debrief::timeline
