// What compiling costs each rank, and who compiles while others wait.
#pragma once

#include "analyses/compile/rank_compare/jobs.h"
#include "model/model.h"

namespace debrief::analyses::compile_rank_compare {

// Rank by rank, the intervals in which it compiles, sorted and not overlapping.
using Intervals = std::map<int32_t, std::vector<std::pair<int64_t, int64_t>>>;

// By the outermost phases of the compiler, else by the spans of compilations.
Intervals FindIntervals(const Model& model, const Job& job);

// Adds rows of compile_rank_time and compile_overlap. One sort of the ends of the intervals and one
// sweep over them: sets of ranks are known by a hash that each end changes, and only those that are
// kept are spelled out.
void AddTimes(const Model& model, const Job& job, Part& part);

}  // namespace debrief::analyses::compile_rank_compare
