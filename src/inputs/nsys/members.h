// Who an export is of: its processes with CUDA, their ranks, and the texts that they printed.
#pragma once

#include <vector>

#include "base/bytes/source.h"
#include "inputs/importer.h"

namespace debrief::inputs::nsys {

// One input for each process that works on a device, and one for each text; empty when the file
// cannot be read. A file of one process is that process, whatever other processes it has.
//
// Rank, the first of these that is told: MPI_RANKS; the name of a thread ("MPI Rank 0"); the
// environment of the command that was recorded (RANK, SLURM_PROCID, ...), where the file has one
// process; the device, as local rank, where each of several processes has its own.
std::vector<InputMember> ListMembers(const Source& source);

}  // namespace debrief::inputs::nsys
