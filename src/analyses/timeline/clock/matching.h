// Which collective of one rank is which of another.
//
// By the sequence number where every lane of a group tells it. Otherwise by order, and since
// recordings may begin at different collectives, by the shift of the order under which ops and
// sizes agree; several shifts agree when a step repeats itself, and then under the right one the
// distance of ends, which is that of the clocks, stays the same.
//
// Cost: a lane is compared with the longest under 129 shifts, at 128 places each.
#pragma once

#include "analyses/timeline/clock/lanes.h"

namespace debrief::analyses::timeline_clock {

// Gives slots to all lanes.
void MatchLanes(const Model& model, Group& group);

}  // namespace debrief::analyses::timeline_clock
