// Functions of the runtime on the host, by rank and name: what the accelerator's runtime does
// before, between and after kernels.
#pragma once

#include <string>
#include <vector>

#include "accel/passes/helpers.h"

namespace debrief::accel {

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
