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

inline bool IsPowerSample(const Event& event) {
  return event.phase == 'C' && event.Has(key::kTsCycles);
}

}  // namespace debrief::accel
