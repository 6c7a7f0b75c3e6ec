// Rows of cost_collective: collectives of one kind in one group together.
#pragma once

#include <vector>

#include "analyses/cost/blame.h"

namespace debrief::analyses::cost {

void AddCollectiveRows(const Model& model, const std::vector<WaitBlame>& blames, Part& part);

}  // namespace debrief::analyses::cost
