// --freq auto: the frequency of the cycle counters, from stamps and host times of all device
// events.
#pragma once

#include "accel/event.h"
#include "accel/pass.h"

namespace debrief::accel {

// MHz: the median over ranks, each fitted on its own (model/accel/frequency.h); null when no rank
// has enough stamps.
std::optional<double> EstimateSocFrequency(const EventList& events, const Run& run);

}  // namespace debrief::accel
