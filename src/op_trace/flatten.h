// Ops as a recorder without nesting would have kept them: one that begins ends the one before.
#pragma once

#include <span>

#include "debrief/op_trace.hpp"

namespace debrief::op_trace {

// Entries in order of start. Cuts each at the start of the next of its thread; what was told when
// such an op ended is told of nothing then: it has no inputs and is a scalar.
void Flatten(std::span<Entry> entries);

}  // namespace debrief::op_trace
