#include "inputs/fr_trace_text/plain_table.h"

#include <algorithm>

#include "base/text/strings.h"

namespace debrief::inputs::fr_trace_text {

PlainTable::PlainTable(const std::vector<std::string>& lines) : lines_(lines) {
  size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, line.size());
  std::vector<bool> used(width);
  for (const std::string& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] != ' ') used[i] = true;
    }
  }
  size_t begin = 0;
  for (size_t i = 0; i < width;) {
    size_t blanks = i;
    while (blanks < width && !used[blanks]) ++blanks;
    if (blanks - i >= 2 && i > begin) columns_.push_back({begin, i});
    if (blanks - i >= 2) begin = blanks;
    i = std::max(blanks, i + 1);
  }
  if (begin < width) columns_.push_back({begin, width});
}

std::string_view PlainTable::CellAt(size_t row, const Column& column) const {
  std::string_view line = lines_[row];
  if (column.begin >= line.size()) return {};
  return Trimmed(line.substr(column.begin, column.end - column.begin));
}

std::string_view PlainTable::Cell(size_t row, std::string_view name) const {
  if (row >= lines_.size()) return {};
  for (const Column& column : columns_) {
    if (CellAt(0, column) == name) return CellAt(row, column);
  }
  return {};
}

}  // namespace debrief::inputs::fr_trace_text
