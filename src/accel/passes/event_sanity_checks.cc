// event_sanity_checks: stamps of an event in order, TS1 <= ... <= TS5. Others are told; the
// reference stops.
#include <fmt/format.h>

#include <algorithm>

#include "accel/passes/cycles.h"
#include "accel/passes/passes.h"

namespace debrief::accel {

void EventSanityChecks(EventList& events, Run& run) {
  int64_t disordered = 0;
  for (const Event& event : events) {
    const auto stamps = event.phase == 'X' ? CyclesOf(event, run) : std::nullopt;
    if (stamps && !std::is_sorted(stamps->begin(), stamps->end())) ++disordered;
  }
  if (disordered > 0)
    run.console.Error(fmt::format(
        "OVC: local_correction fix has missed {} events: TS1 to TS5 are out of order", disordered));
}

}  // namespace debrief::accel
