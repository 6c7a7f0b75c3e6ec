// map_tid_to_range: threads of Flex, 64-bit hashes, become 1000, 1100, 1200 ... in the order of
// their first slice.
#include "accel/passes/helpers.h"
#include "accel/passes/passes.h"

namespace debrief::accel {

void MapTidToRange(EventList& events, Run& run) {
  ByValue<int64_t> tids;
  for (Event& event : events) {
    if (event.phase != 'X' || event.tid.IsNull() || run.DialectOf(event) != Dialect::kFlex)
      continue;
    int64_t& tid = tids[event.tid];
    if (tid == 0) tid = 900 + 100 * static_cast<int64_t>(tids.size());
    event.tid = Value::Integer(tid);
  }
}

}  // namespace debrief::accel
