// verify (-V): which phases the input has; others than slices and async events are told.
#include <fmt/format.h>

#include <map>

#include "accel/passes/passes.h"

namespace debrief::accel {

void Verify(EventList& events, Run& run) {
  std::map<char, int64_t> phases;
  for (const Event& event : events) ++phases[event.phase];
  int64_t others = 0;
  for (const auto& [phase, count] : phases) {
    if (std::string_view("XBEbe").find(phase) == std::string_view::npos) others += count;
  }
  if (others > 0)
    run.console.Error(fmt::format("VRF: {} events have other phases than X B E b e", others));
}

// Nothing is left of what ingestion added.
void VerifyCleanup(EventList&, Run& run) { run.jobs_are_named = true; }

}  // namespace debrief::accel
