// Lines of an input around one that evidence names, also of packed files and members of archives.
#pragma once

#include <cstdint>
#include <string>

#include "app/mcp/roots.h"
#include "base/status.h"

namespace debrief {

struct LineRange {
  int64_t line = 1;  // in the middle, from 1
  int64_t before = 0, after = 0;
};

// {"path": "...", "first_line": 3, "lines": ["..."], "more": true}. Reads no further than the last
// line that is asked for; a line is cut after 4,000 bytes.
Result<std::string> LinesAroundJson(const Roots& roots, const std::string& path,
                                    const LineRange& range);

}  // namespace debrief
