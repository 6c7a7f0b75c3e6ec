// What schedulers say about the end of a job, as the same rows that lines of text become:
// text_event, and process_exit where a process is meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/model.h"

namespace debrief::inputs {

struct JobStatement {
  std::string_view kind;  // of text_event: scheduler, exit, signal, out_of_memory, xid
  int64_t line = kNone64;
  int64_t time_ns = kNone64;
  std::string text;
  // Of a process that ended:
  std::string_view said_by = {};
  std::string host = {};
  int64_t pid = kNone64;
  int32_t exit_code = kNone32;  // negative: the signal; none: no process is meant
};

// It is about the job, whatever rank the name of the file may tell.
void AddStatement(const Identity& who, const JobStatement& statement, Part& part);

}  // namespace debrief::inputs
