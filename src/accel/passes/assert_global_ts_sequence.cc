// assert_global_ts_sequence: the list is sorted by time; a profile may have left the sort out.
#include <fmt/format.h>

#include "accel/passes/passes.h"

namespace debrief::accel {

void AssertGlobalTsSequence(EventList& events, Run& run) {
  size_t wrong = 0;
  for (size_t i = 1; i < events.size(); ++i) wrong += events[i].ts < events[i - 1].ts;
  if (wrong > 0) {
    run.console.Error(
        fmt::format("TS_SEQUENCE: {} events lie before the one in front of them", wrong));
  }
}

}  // namespace debrief::accel
