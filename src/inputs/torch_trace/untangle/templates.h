// Finds small JSON payloads without following the stream: a payload proved before is a template of
// shapes (`{`, a name, a time, ...), and each line of another payload of this kind is one of the
// lines of that shape between its header and the next header of its lane. A time stamp has as many
// candidates as events overlap, most other lines one or two, so a few hundred checksums find what
// the search loses when many lanes write the same event at once: there, which lane got the next of
// eight equal lines stays open for too long.
#pragma once

#include <cstdint>

#include "inputs/torch_trace/untangle/knowledge.h"

namespace debrief::inputs::torch_trace {

// Proves what it can; returns how many payloads. Cost: a bounded number of checksums a payload.
int32_t ProveByTemplates(Knowledge* know);

}  // namespace debrief::inputs::torch_trace
