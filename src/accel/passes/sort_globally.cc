// sort_events, third and fourth of its name: all events by (ts, -dur), ties as they came.
#include "accel/passes/passes.h"

namespace debrief::accel {

void SortGlobally(EventList& events, Run&) { SortByTime(events); }

}  // namespace debrief::accel
