// Names of the two processes of a rank of Flex, its host and its device.
//
// The reference names one that is not there "cpu_default" or "acc_default", with pid 0, and so
// renames rank 0; without
// --compat only processes that are met are named. It gives the names away when
// tb_refinement_intrusive is drained, which shares their list with tb_refinement_lightweight.
#pragma once

#include "accel/pass.h"

namespace debrief::accel {

// Host slices of rank r go to process 1000 + r.
inline constexpr int64_t kHostPids = 1000;

// Metadata events for the processes of `events`, before their pids are changed; none when they were
// given away before.
EventList NamesOfProcesses(const EventList& events, Run& run);

}  // namespace debrief::accel
