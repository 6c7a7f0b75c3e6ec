// Ranks on one clock, by the collectives they ran together.
//
// All ranks leave a synchronising collective (not a broadcast, a send) together, so the ends of one
// collective on two ranks, which lie on the two clocks, are the same moment: the shift between the
// clocks is the median of their distances over all collectives that the two have in common. A rank
// without one in common with the first rank is reached over another rank, or stays.
//
// Clocks that agree are left alone: nobody leaves such a collective before all have come, so on one
// clock its slices on two ranks overlap. Only where more than a tenth of those of two ranks lie
// apart are their clocks different ones, and are shifted. Everything of a rank moves, host and
// device.
//
// Collectives are matched by `CollGroup` (Flex) or by process group, operation and sequence
// (Kineto), else by their order. Linear in events; ranks times collectives of memory.
#pragma once

#include "accel/pass.h"

namespace debrief::accel {

void AlignRanks(EventList& events, Run& run);

}  // namespace debrief::accel
