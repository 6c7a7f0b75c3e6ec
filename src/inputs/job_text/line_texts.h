// What the texts of kept lines are to the event they become.
#pragma once

#include <string_view>

#include "inputs/job_text/line_scanner.h"

namespace debrief::inputs::job_text {

// text_event.kind of a line that is an event by itself.
std::string_view KindOf(LineClass what);

// A text that was cut at some bytes, without the UTF-8 sequence that was cut in two.
std::string_view DropHalf(std::string_view text);
// At most kMaxText bytes.
std::string_view CutText(std::string_view text);

// A C++ exception with which a watchdog ends its process, or that says so.
bool IsTeardown(std::string_view text);

// Parts of messages of several lines, of which only the first carries the mark of its rank.
bool IsContinuation(const Line& line);

}  // namespace debrief::inputs::job_text
