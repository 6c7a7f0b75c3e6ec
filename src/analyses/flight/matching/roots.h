// Two roots of one gather or scatter.
#pragma once

#include <vector>

#include "analyses/flight/cause.h"

namespace debrief::analyses::flight {

// A gather has a list of tensors on the side of its root, and so has a scatter: two members with
// such a list named different roots. Whoever was not the root before is to blame; false when the
// row has at most one.
bool AddSecondRoot(const Index& index, const Group& group, const SeqRow& row,
                   std::vector<Cause>& causes);
// Whether it would.
bool HasSecondRoot(const Index& index, const Group& group, const SeqRow& row);

}  // namespace debrief::analyses::flight
