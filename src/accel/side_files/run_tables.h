// Tables about a run that need no compiler log, written without --compat:
//
//   <stem>_iterations.csv      a rank: how long an iteration takes, or why none was found
//   <stem>_steps.csv           a rank and step: compute, communication, both at a time, neither
//   <stem>_host_functions.csv  a rank and function of the runtime: calls, total, mean, share
//
// Every row says whether it means something with autopilot, where the device runs whole programs by
// itself. The first rows of each table are shown on the console as well.
#pragma once

#include "accel/pass.h"

namespace debrief::accel {

void WriteRunTables(const EventList& events, Run& run);

}  // namespace debrief::accel
