// Printed stacks as rows of stack_dump, for the importers in whose texts they stand.
#pragma once

#include "base/bytes/source.h"
#include "model/model.h"
#include "torch/stacks/stack_text.h"

namespace debrief::inputs {

// One thread of one process. The rank is that of the stack, else that of the input.
void AddStackRow(const Identity& who, int64_t time_ns, const ThreadStack& stack, Part& part);

// Finds stacks of faulthandler in an ordinary output: after a signal, a time limit or a crash they
// stand between the lines of the rank, behind whatever a launcher puts in front of each line. Costs
// one fast search where there are none.
Status AddStacksInText(const Source& source, const Identity& who, Part& part);

}  // namespace debrief::inputs
