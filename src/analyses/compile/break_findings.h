// Rules compile.graph_breaks (a warning; one finding for each attempt of a job) and compile.failed
// (one for each distinct failure; an error when the exception reached the program, a warning when
// the function ran uncompiled instead). Ranks that tell the same are one finding.
#pragma once

#include <vector>

#include "analyses/analysis.h"

namespace debrief::analyses::compile_breaks {

void AddFindings(const Part& part, std::vector<Finding>& findings);

}  // namespace debrief::analyses::compile_breaks
