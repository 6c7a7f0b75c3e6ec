// The lines of a text of any size, through windows: for small texts whose lines depend on each
// other, so that cutting them into ranges gains nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/bytes/source.h"

namespace debrief::inputs {

// What is left of a longer line.
inline constexpr size_t kLongestLine = 64 * 1024;

// Calls `on_line` with every line of [begin, end) and its number, from 1; the end of the line is
// taken off, a '\r' before it too. `window_bytes` are read at a time.
Status ForEachLine(const Source& source, uint64_t window_bytes,
                   const std::function<void(std::string_view line, int64_t number)>& on_line);

}  // namespace debrief::inputs
