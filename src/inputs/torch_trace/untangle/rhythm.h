// The second cheap hypothesis: the lanes write in a fixed rotation, the same number of lines each
// (strict alternation is 1). It is read off the first turn and followed until a header contradicts.
#pragma once

#include "inputs/torch_trace/untangle/knowledge.h"

namespace debrief::inputs::torch_trace {

// Proves the payloads that fit. O(items).
void ProveByRhythm(Knowledge* know);

}  // namespace debrief::inputs::torch_trace
