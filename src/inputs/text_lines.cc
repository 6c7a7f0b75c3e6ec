#include "inputs/text_lines.h"

#include <algorithm>
#include <string>

#include "base/text/newlines.h"

namespace debrief::inputs {

namespace {

void AppendCut(std::string_view piece, std::string& line) {
  if (line.size() < kLongestLine) line += piece.substr(0, kLongestLine - line.size());
}

}  // namespace

Status ForEachLine(const Source& source, uint64_t window_bytes,
                   const std::function<void(std::string_view, int64_t)>& on_line) {
  std::string open;  // the line that the last window did not end
  bool is_open = false;
  int64_t number = 0;
  auto give = [&](std::string_view line) {
    line = line.substr(0, kLongestLine);
    if (line.ends_with('\r')) line.remove_suffix(1);
    on_line(line, ++number);
  };
  for (uint64_t begin = 0; begin < source.size(); begin += window_bytes) {
    ASSIGN_OR_RETURN(ByteView bytes, source.View(begin, window_bytes));
    if (bytes.size() == 0) break;
    LineSplitter lines(bytes.text());
    for (std::string_view line; lines.Next(line);) {
      bool ends = lines.terminated();
      if (is_open || !ends) AppendCut(line, open);
      if (ends) give(is_open ? std::string_view(open) : line);
      if (ends) open.clear();
      is_open = !ends;
    }
  }
  if (is_open) give(open);
  return {};
}

}  // namespace debrief::inputs
