// Which of several dumps of one rank to keep.
#pragma once

#include <span>

#include "inputs/importer.h"

namespace debrief::inputs::flight_recorder {

// A process may have several recorders, one per kind of backend (nccl beside gloo): those are all
// kept. Of several dumps of one recorder the richest is kept: stacks first, then more entries, then
// the one that was read to its end.
void Settle(std::span<Twin> twins);

}  // namespace debrief::inputs::flight_recorder
