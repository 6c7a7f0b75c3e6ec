// Which steps stand for a job when two jobs are compared, and when each of them began and ended.
// Every comparison of profiles takes these, so that all of them show the same figures.
//
// A step counts when the recording did not cut it and all ranks have it. Steps half again as long
// as the median are left out (warming up, checkpoints): findings speak of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/stats/intervals.h"
#include "model/timeline/view.h"

namespace debrief::timeline {

struct ComparedStep {
  int32_t step = kNone32;  // in its timeline
  int64_t key = 0;         // equal ones of several ranks are the same step
  Interval time;           // of host and devices together
};

// Those of one timeline that the recording did not cut; all when it cut every one. None is empty.
std::vector<ComparedStep> ComparedStepsOf(const TimelineView& view);

struct TypicalSteps {
  std::vector<int64_t> keys;  // ascending
  size_t left_out = 0;        // unusually long ones

  // Where it is among the keys; their number for a step that is not.
  size_t At(int64_t key) const;
};

// Lengths in nanoseconds by rank and key.
using StepLengths = std::map<int32_t, std::map<int64_t, int64_t>>;
TypicalSteps FindTypicalSteps(const StepLengths& lengths);

}  // namespace debrief::timeline
