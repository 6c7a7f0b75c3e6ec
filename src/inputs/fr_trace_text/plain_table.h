// Tables as Python's tabulate prints them in its format "plain": columns are told apart by blanks
// that stand in every line.
//
//     id  desc          size
//   0574  default_pg       8
//
// Cells may be empty and may have single blanks inside ({0, 1, 2}), so words are no cells: where
// two or more neighbouring characters are blank in the head and in all rows, a column ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debrief::inputs::fr_trace_text {

class PlainTable {
 public:
  explicit PlainTable(const std::vector<std::string>& lines);  // the first is the head

  // The cell of a row (from 1) below the head `name`, without blanks around it; "" when there is
  // no such column.
  std::string_view Cell(size_t row, std::string_view name) const;

 private:
  struct Column {
    size_t begin;
    size_t end;
  };
  std::string_view CellAt(size_t row, const Column& column) const;

  const std::vector<std::string>& lines_;
  std::vector<Column> columns_;
};

}  // namespace debrief::inputs::fr_trace_text
