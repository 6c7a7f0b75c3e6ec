// Who compiled something else, and who compiles longest.
#pragma once

#include <vector>

#include "analyses/compile/rank_compare/compare.h"
#include "model/finding.h"

namespace debrief::analyses::compile_rank_compare {

// One row of compile_first_difference for each rank that differs.
void AddFirstDifferences(const Model& model, const Job& job,
                         const std::vector<Difference>& differences, Part& part);

// compile.rank_differs. Evidence points to rows of compile_first_difference, which `part` has.
void AddDifferenceFindings(const Model& model, const Job& job,
                           const std::vector<Difference>& differences, const Part& part,
                           std::vector<Finding>& findings);

// compile.rank_slow, from compile_rank_time of `part`.
void AddSlowFindings(const Part& part, std::vector<Finding>& findings);

}  // namespace debrief::analyses::compile_rank_compare
