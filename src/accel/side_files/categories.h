// <stem>_categories.csv and .txt: what the kernels of each category took, per rank and phase.
//
// Without --compat there are also the cycles that the device counted, those of the core, and rows
// for all ranks together (Pid "all"); under autopilot every row says that only its Total is
// measured, and with --autopilot_data the categories of another run share it out.
#pragma once

#include "accel/passes/utilization.h"

namespace debrief::accel {

void WriteCategories(const Utilization& state, Run& run);

}  // namespace debrief::accel
