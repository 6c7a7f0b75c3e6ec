// One JSON object of a trace becomes an Event.
//
//   {"name": "k Cmpt Exec", "ph": "X", "pid": 0, "tid": 1, "ts": 10.0, "dur": 0.1, "attr": {"TS1":
//   "0x64", ...}}
//
// Nothing is judged here but the types: what is missing is missing in the Event as well (name
// kNone, pid and tid kNull, has_ts false; phase 0).
#pragma once

#include <string_view>

#include "accel/event.h"
#include "base/json/cursor.h"

namespace debrief::accel {

struct Parsed {
  Event event;
  std::string_view trouble;  // empty: a good event; else why it is none, as words after "an event"
};

// Where the parts of events go. One a thread.
struct ParseTarget {
  StringPool strings = MakeStrings();
  ArgStore args;
  std::vector<Arg> scratch;  // arguments of the event that is being read
};

// A Status when the text is no JSON.
Result<Parsed> ParseEvent(JsonValue json, ParseTarget& target);

// Any value; what is nested is kept as text.
Value ParseValue(JsonValue json, StringPool& strings);

}  // namespace debrief::accel
