// Where the time of each rank went, step by step: compute alone, communication alone, both at a
// time, neither. The four add up to the step.
//
// A step is an iteration that collect_iteration_stats found; what lies before the first is the step
// "before"; what lies between jobs belongs to none; a rank without iterations has one step "all".
#pragma once

#include <string>
#include <vector>

#include "accel/passes/helpers.h"

namespace debrief::accel {

// Microseconds.
struct StepTime {
  std::string name;
  double elapsed = 0, compute = 0, overlap = 0, communication = 0, other = 0;
};

struct RankSteps {
  Value rank;
  std::vector<StepTime> steps;
};

// Sorted by rank. Cost: sorts the slices of devices; linear else.
std::vector<RankSteps> StepTimes(const EventList& events, Run& run);

}  // namespace debrief::accel
