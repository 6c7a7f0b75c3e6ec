// The processed trace as JSON: what is written after the last pass, and with -I after each.
//
// Events are formatted in blocks by all threads and written in order; memory is a few blocks.
#pragma once

#include "accel/ingest/metadata.h"
#include "accel/run.h"
#include "base/status.h"

namespace debrief::accel {

// `path` gets all events. The number of events that are in it is returned.
Result<size_t> WriteTrace(const std::string& path, const EventList& events,
                          const Metadata& metadata, Run& run);

// Of -f pddf: the slices alone, as a table.
Result<size_t> WritePddf(const std::string& path, const EventList& events, Run& run);

// Of --tb: a file a rank beside the main one, where there are several.
Status WriteWorkers(const EventList& events, const Metadata& metadata, Run& run);

// Of -I: the events as they are after one pass.
Status WriteStage(const std::string& path, const EventList& events, Run& run);

// One event, as it stands in the list of the output; `depth` is that of the list.
void AppendEvent(std::string& out, const Event& event, const Run& run, int depth);
// The same in a dump of -I.
void AppendRawEvent(std::string& out, const Event& event, const Run& run, int depth);

// `otherData` of the output: what made it, and with which options.
// The object, indented as a member of the top-level one.
std::string OtherData(const Options& options);
// With -I: only the name of the file.
std::string OtherDataOfStage(const Options& options, const std::string& path);

}  // namespace debrief::accel
