// The prefix that glog puts before a line, as TORCH_TRACE logs have it:
//
//   V1115 02:33:12.159000 425 torch/_dynamo/utils.py:2126] {"chromium_event": {}, ...}
//   |level                |   |path with its blank  |line  |rest
//    |time                thread
//
// It may stand anywhere in the line (launchers put "[rank0]:" in front); the first one counts.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace debrief {

struct GlogPrefix {
  size_t begin = 0;         // where the prefix begins in the line
  std::string_view time;    // "1115 02:33:12.159000"
  std::string_view thread;  // digits
  std::string_view path;    // " torch/_dynamo/utils.py"
  std::string_view line;    // digits
  size_t rest = 0;          // where the text behind "] " begins; not empty
};

// None when the line has no prefix. Linear in the length of the line.
std::optional<GlogPrefix> FindGlogPrefix(std::string_view line);

}  // namespace debrief
