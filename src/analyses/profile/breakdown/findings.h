// Communication that nothing hides.
#pragma once

#include <vector>

#include "model/model.h"

namespace debrief::analyses::profile_breakdown {

// Of the rows of profile_breakdown in `part`: one finding for a job.
void AddFindings(const Part& part, std::vector<Finding>& findings);

}  // namespace debrief::analyses::profile_breakdown
