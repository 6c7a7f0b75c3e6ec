// error.json, in which torchrun's @record leaves the exception of a process:
//
//   {"message": {"message": "OSError: ...", "extraInfo": {"py_callstack": "Traceback ...",
//    "timestamp": "1794784492"}, "errorCode": 1}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/pools/ids.h"

namespace debrief::inputs::job_text {

struct ErrorFile {
  std::string message;
  std::string stack;  // lines of a traceback
  int64_t time_ns = kNone64;
};

// `text` may be cut: strings end where it does.
std::optional<ErrorFile> ParseErrorFile(std::string_view text);

}  // namespace debrief::inputs::job_text
