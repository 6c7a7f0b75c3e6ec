// The steps of a program in a timeline.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyses/timeline/work_origins.h"
#include "model/timeline/view.h"

namespace debrief::analyses::timeline_steps {

struct Step {
  int64_t label = kNone64;
  int64_t start = 0;
  int64_t end = 0;
  int64_t device_start = kNone64;
  int64_t device_end = kNone64;
  int64_t launches = 0;
  bool whole = true;
};

// By repetition of the work on the busiest stream; empty unless the work is clearly periodic.
std::vector<Step> PeriodicSteps(const timeline::TimelineView& view,
                                std::span<const timeline::WorkOrigin> origins);

}  // namespace debrief::analyses::timeline_steps
