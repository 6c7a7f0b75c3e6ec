// What the outputs of a job's ranks say about its end, sorted by rank. One pass over text_event.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "tables/text_event.h"

namespace debrief::analyses::text_hang {

// Rows of text_event, in the order of the text.
using Rows = std::vector<size_t>;

struct RankTalk {
  bool has_text = false;  // it left an output
  Rows timeouts;          // its watchdog: a work ran into its time limit
  Rows dump_signals;      // somebody asked it for a dump
  Rows counters;          // it tells the last work that it enqueued on a group
  Rows remote_errors;     // communication failed because another process went away
  Rows troubles;          // tracebacks, out of memory, signals, exits: its own, not an aftermath
  bool teardown = false;  // its watchdog took the process down
  size_t last_line = kNoRow;
  int64_t last_ns = kNone64;  // the last time in its output

  static constexpr size_t kNoRow = ~size_t{0};
};

struct Talk {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  std::map<int32_t, RankTalk> ranks;   // all that are known to exist
  int64_t first_timeout_ns = kNone64;  // null when none tells a time

  std::vector<int32_t> RanksThatTimedOut() const;
};

// One per attempt of a job in which a rank speaks. Text whose rank is not known says nothing of a
// rank: it may be a launcher's, or a tool's that ran later.
std::vector<Talk> CollectTalks(const Model& model);

// Sentences of a communication library about a peer that is gone. What follows from the end of
// another process is not what ended this one.
bool BlamesARemote(std::string_view text);

// An exception that says only that communication was given up.
bool IsAftermath(std::string_view text);

}  // namespace debrief::analyses::text_hang
