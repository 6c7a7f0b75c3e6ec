// One file of trace events: where the events are and what stands beside them.
//
//   [{"name": ...}, ...]                                       a list of events
//   {"traceEvents": [...], "deviceProperties": [...], ...}     the same with facts about the run
//
// The file is cut into batches of whole events, which threads parse. A batch that is no JSON is
// read event by event, and only what is broken is left out. A file that ends early gives what it
// has.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "accel/event.h"
#include "accel/ingest/trouble.h"
#include "base/bytes/source.h"
#include "base/threads/thread_pool.h"

namespace debrief::accel {

struct TraceFile {
  EventList events;
  std::vector<int64_t> offsets;  // beside events: where each begins in the file
  // Members of the top-level object but the events: key and JSON text.
  std::vector<std::pair<std::string, std::string>> members;
  Trouble trouble;
  bool is_cut = false;
};

Result<TraceFile> ReadTrace(const Source& source, ThreadPool& threads, Run& run);

}  // namespace debrief::accel
