// From causes to findings: whom they blame, where, on what evidence, and what follows from them.
#pragma once

#include <vector>

#include "analyses/flight/cause.h"
#include "analyses/flight/waits.h"
#include "model/finding.h"

namespace debrief::analyses::flight {

void AddFindings(const Index& index, const Waits& waits, const std::vector<Cause>& causes,
                 std::vector<Finding>& findings);

}  // namespace debrief::analyses::flight
