// What to tell about lost time: what to fix first, and how much of the steps is compiled.
#pragma once

#include <map>

#include "analyses/analysis.h"
#include "analyses/cost/fixes.h"

namespace debrief::analyses::cost {

// `first_row`: of cost_fix, the first of the job.
void AddFixFinding(const Model& model, const JobKey& job, const Fixes& fixes,
                   const std::map<RankKey, RankSums>& ranks, int64_t first_row,
                   std::vector<Finding>& findings);

void AddCompiledShares(const std::map<RankKey, RankSums>& ranks, std::vector<Finding>& findings);

}  // namespace debrief::analyses::cost
