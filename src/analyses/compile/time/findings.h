// What of the times is worth telling.
#pragma once

#include <vector>

#include "model/finding.h"
#include "model/model.h"

namespace debrief::analyses::compile_time {

// `part` has the table compile_span.
void AddFindings(const Part& part, std::vector<Finding>& findings);

}  // namespace debrief::analyses::compile_time
