// The three passes of the power counter share how a sample looks: a counter event whose name is
// still that of the slice it comes from, with the charge under Watts and what it is sorted by, time
// (power_ts4) or cycle (power_ts3), under TS_cycles.
#pragma once

#include <cstddef>

#include "accel/passes/helpers.h"

namespace debrief::accel {

struct PowerStats {
  size_t samples = 0;
  size_t emitted = 0;
  size_t implausible = 0;
};

// power_ts4 unless the options ask for power_ts3.
inline bool ByTs4(const Run& run) { return run.options.counters.power_ts4; }

// Counters of the input may have these arguments, too, but not of these kinds.
inline bool IsPowerSample(const Event& event) {
  if (event.phase != 'C') return false;
  const Arg* charge = event.Find(key::kWatts);
  const Arg* order = event.Find(key::kTsCycles);
  return charge != nullptr && charge->kind == ValueKind::kInteger && order != nullptr &&
         order->kind == ValueKind::kNumber;
}

}  // namespace debrief::accel
