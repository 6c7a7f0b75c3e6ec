// One row for each compilation: whose it is, when it was, where its time went.
#pragma once

#include <vector>

#include "analyses/compile/time/phases.h"
#include "model/model.h"

namespace debrief::analyses::compile_time {

// Adds the rows of compile_span, in the order in which the log names compilations first. Cost: one
// pass over entries, phases and metrics; most rows name the compilation of the row before.
void AddSpans(const Model& model, const std::vector<Phase>& phases, Part& part);

}  // namespace debrief::analyses::compile_time
