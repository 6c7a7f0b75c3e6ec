// Whether a send and its receive agree.
#pragma once

#include "analyses/flight/index.h"

namespace debrief::analyses::flight {

// Two halves of an exchange. NCCL counts elements: a scalar and a tensor of one element, [8, 256]
// and [2048] are the same to it.
bool IsSameAmount(const Index& index, const Unit& a, const Unit& b);

}  // namespace debrief::analyses::flight
