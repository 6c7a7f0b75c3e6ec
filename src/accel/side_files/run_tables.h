// Tables about a run that need no compiler log, written without --compat:
//
//   <stem>_iterations.csv      a rank: how long an iteration takes, or why none was found
//   <stem>_steps.csv           a rank and step: compute, communication, both at a time, neither
//   <stem>_host_functions.csv  a rank and function of the runtime: calls, total, mean, share
//
// Every row says whether it means something with autopilot, where the device runs whole programs by
// itself. The first rows of each table are shown on the console as well.
#pragma once

#include <string>
#include <vector>

#include "accel/run.h"

namespace debrief::accel {

void WriteRunTables(const EventList& events, Run& run);

// Where the time of each rank went, step by step: compute alone, communication alone, both at a
// time, neither. The four add up to the step.
//
// A step is an iteration that collect_iteration_stats found; what lies before the first is the step
// "before"; what lies between jobs belongs to none; a rank without iterations has one step "all".

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

// Functions of the runtime on the host, by rank and name: what the accelerator's runtime does
// before, between and after kernels.

struct HostFunction {
  Value rank;
  std::string name;   // numbers taken out
  std::string phase;  // of the runtime, where it is known ("graph_exec")
  size_t calls = 0;
  double total = 0;  // microseconds, with what it calls
  double share = 0;  // of the time from the first to the last call on that rank
};

// By rank, longest first. Linear.
std::vector<HostFunction> HostFunctions(const EventList& events, Run& run);

}  // namespace debrief::accel
