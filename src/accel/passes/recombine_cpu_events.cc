// recombine_cpu_events: slices of the host of a Flex trace are one thread, 1000; "AIU Roundtrip"
// keeps its own.
#include "accel/categories.h"
#include "accel/passes/passes.h"

namespace debrief::accel {

void RecombineCpuEvents(EventList& events, Run& run) {
  for (Event& event : events) {
    if (event.phase != 'X' || run.DialectOf(event) != Dialect::kFlex) continue;
    if (IsDeviceEvent(event, run) || event.name == key::kAiuRoundtrip) continue;
    event.tid = Value::Integer(1000);
  }
}

}  // namespace debrief::accel
