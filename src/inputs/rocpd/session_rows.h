// The events of one recording of rocprofiler -> rows of the timeline tables, in the words that
// profiles of PyTorch on ROCm use (docs/formats/rocpd.md).
#pragma once

#include <cstdint>

#include "base/sqlite/database.h"
#include "inputs/rocpd/session.h"
#include "model/timeline/writer.h"

namespace debrief::inputs::rocpd {

struct EventCounts {
  int64_t events = 0;
  int64_t lost = 0;
};

// `process`: the number of the row of the process whose events are kept; none: all.
EventCounts AddSession(SqliteDatabase& database, const Session& session, int64_t process,
                       const Identity& who, timeline::TimelineWriter& writer);

}  // namespace debrief::inputs::rocpd
