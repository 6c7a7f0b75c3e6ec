// The tables comm_match, comm_call and first_incomplete.
#pragma once

#include "analyses/flight/cause.h"
#include "analyses/flight/index.h"
#include "analyses/flight/waits.h"
#include "model/model.h"

namespace debrief::analyses::flight {

// Appends the rows of one attempt; numbers of matches go on from those already in `part`.
void FillTables(const Index& index, const Waits& waits, const std::vector<Cause>& causes,
                Part& part);

// tp, dp, pp, ep, world, or "": from the description, else from the members.
std::string_view RoleOf(const Index& index, const Group& group);

}  // namespace debrief::analyses::flight
