// From the argument of -i to one list of events, in the order of time.
//
// Files are read one after the other (each by all threads), judged and numbered by their rank, and
// merged by `ts`; a file keeps its own order. Linear in the number of events; memory is that of the
// events.
#pragma once

#include "accel/event.h"
#include "accel/ingest/metadata.h"
#include "accel/run.h"
#include "base/status.h"

namespace debrief::accel {

struct Ingested {
  EventList events;
  Metadata metadata;
  size_t files_read = 0;
  bool has_fatal_trouble = false;  // an event or a file that the reference does not survive
};

// kNotFound when -i names no file. What is wrong in files is told on the console; a file that
// cannot be read is left out. `temporary_folder` is for large packed files.
Result<Ingested> Ingest(Run& run, const std::string& temporary_folder);

}  // namespace debrief::accel
