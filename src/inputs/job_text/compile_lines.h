// The lines that torch.compile logs, with the heads of all versions:
//
//   V1115 02:33:30.010000 425 torch/_dynamo/guards.py:1379] [5/0_1] [__recompiles] text  2.3 and on
//   [2023-11-15 16:13:26,741] [5/0] torch._dynamo.guards.__recompiles: [DEBUG] text      before
//   WARNING:torch._dynamo.convert_frame:text                                logging.basicConfig()
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/pools/ids.h"
#include "torch/glog_time.h"

namespace debrief::inputs::job_text {

struct CompileLine {
  std::string_view head;      // all before the text: lines of one record have the same
  std::string_view id;        // 5/0_1; empty where none is told
  std::string_view artifact;  // recompiles; empty for a logger without one
  std::string_view text;
  std::string_view file;  // that logged it: its path, or the name of its logger
  int32_t line = kNone32;
  char level = 0;  // V, D, I, W, E, F, C
  int64_t pid = kNone64;
  GlogTime time;              // of the first form
  int64_t time_ns = kNone64;  // of the second

  int64_t Time(int64_t now_ns) const { return time.month > 0 ? GuessTime(time, now_ns) : time_ns; }
  bool has_time() const { return time.month > 0 || time_ns != kNone64; }
};

// None where another logger wrote the line: that of torchrun has the same head.
std::optional<CompileLine> ParseCompileLine(std::string_view text);

// Is the next line of the same head a record of its own? Heads tell milliseconds, in which a
// compiler says several things.
bool BeginsRecord(std::string_view text);

// A line without a head that may be the rest of a warning of which only the first line has one.
bool ContinuesWarning(std::string_view text);

}  // namespace debrief::inputs::job_text
