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

#include "accel/run.h"
#include "base/bytes/source.h"
#include "base/json/event_ranges.h"

namespace debrief::accel {

// Kinds that the reference leaves out as well; others stop it.
inline constexpr std::string_view kNoName = "has no name";
inline constexpr std::string_view kNoTime = "has no time (`ts`)";
inline constexpr std::string_view kNoDurationNumber = "has a duration (`dur`) that is no number";

// What was wrong with events of one file: counted by kind, the first of each kind with its place.
class Trouble {
 public:
  // `what` stands behind "an event": "has no phase (`ph`)". `offset` is -1 where it is not known.
  void Add(std::string_view what, int64_t offset, int64_t count = 1);
  void Append(const Trouble& other);
  // A line a kind: "x.json: 3 events left out, it has no phase (`ph`) (the first at byte 17)".
  void Log(std::string_view file, Console& console) const;
  bool StopsReference() const;

 private:
  struct Kind {
    std::string what;
    int64_t offset = -1;
    int64_t count = 0;
  };
  std::vector<Kind> kinds_;  // few
};

struct TraceFile {
  EventList events;
  std::vector<int64_t> offsets;  // beside events: where each begins in the file
  // Members of the top-level object but the events: key and JSON text.
  std::vector<JsonMember> members;
  Trouble trouble;
  bool is_cut = false;
};

Result<TraceFile> ReadTrace(const Source& source, ThreadPool& threads, Run& run);

}  // namespace debrief::accel
