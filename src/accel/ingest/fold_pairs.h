// Begin and end become one slice.
//
//   B a, B b, E b, E a   ->   X a, X b
//
// An end closes the innermost open begin of its track (pid, tid) that has its name, or else the
// innermost of all, as on every timeline (model/timeline/arrange.h). The slice stands where its
// begin stood. A begin that is never closed lasts until the last time of its file and says so
// (`unfinished`); the reference leaves it out, or stops when pairs are nested.
#pragma once

#include "accel/ingest/read_trace.h"

namespace debrief::accel {

void FoldPairs(TraceFile& file, Run& run);

}  // namespace debrief::accel
