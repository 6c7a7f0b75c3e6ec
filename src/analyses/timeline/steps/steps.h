// The steps of a program in a timeline, by two ways to find them.
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

// By the profiler's marks (ProfilerStep#412), sorted by start. A mark may be there twice, as an op
// and as an annotation; an end is never behind the next start.
std::vector<Step> MarkedSteps(const timeline::TimelineView& view);

// By repetition of the work on the busiest stream; empty unless the work is clearly periodic.
std::vector<Step> PeriodicSteps(const timeline::TimelineView& view,
                                std::span<const timeline::WorkOrigin> origins);

// Fills in the work that each step launched. Work that no call launched counts where it ran.
void CountWork(const timeline::TimelineView& view, std::span<const timeline::WorkOrigin> origins,
               std::vector<Step>& steps);

// The last step is cut when it has clearly less work than the one before.
void MarkCutSteps(std::vector<Step>& steps);

}  // namespace debrief::analyses::timeline_steps
