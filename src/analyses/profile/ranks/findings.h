// A straggler in words.
#pragma once

#include "analyses/profile/ranks/verdict.h"
#include "model/finding.h"

namespace debrief::analyses::profile_ranks {

// `row`: of the rank in profile_rank.
Finding StragglerFinding(const Model& model, const RankKey& key, const Case& each, int64_t row);

}  // namespace debrief::analyses::profile_ranks
