// Text in columns of a terminal: how wide it is, how it is cut and wrapped, and tables of it.
//
// A character counts as one column, whatever its bytes; wide characters are rare in our texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace debrief {

size_t TextWidth(std::string_view text);
// How many bytes the first `columns` of `text` have.
size_t BytesOfColumns(std::string_view text, size_t columns);

// At most `width` columns of `text`; where something is left out, the last three are dots.
std::string CutEnd(std::string_view text, size_t width);

// Likewise with the dots in the middle: names of templates begin alike.
std::string CutMiddle(std::string_view text, size_t width);

// Words of `text` in lines of at most `width` columns; a longer word has a line of its own.
std::vector<std::string> Wrap(std::string_view text, size_t width);

// The one printer of tables.
//
//   TextTable table({{"self", TextTable::kRight}, {"op"}});
//   table.Add({"1.50 ms", "nccl:all_reduce"});
//   out += table.Text({.indent = 2, .width = 80});
//
// Columns are as wide as their widest cell; of a line that would be wider than `width`, the last
// column is cut, but not below `least_last`. Cells are made printable. A column whose cells are all
// empty or "-" is left out when `drop_empty` is set.
class TextTable {
 public:
  enum Align { kLeft, kRight };
  struct Column {
    std::string head;
    Align align = kLeft;
    size_t widest = SIZE_MAX;  // longer cells are cut
  };
  struct Layout {
    size_t indent = 0;
    size_t gap = 2;          // blanks between columns
    size_t width = 0;        // of a line; 0: as wide as it gets
    size_t least_last = 32;  // the last column is not cut below this
    size_t most = SIZE_MAX;  // rows to print
    bool has_head = true;
    bool has_rule = false;  // dashes below the head
    bool drop_empty = false;
    // Not 0: instead of the last column all that stand to the left are cut alike, not below this.
    size_t least_cell = 0;
  };

  explicit TextTable(std::vector<Column> columns);

  void Add(
      std::vector<std::string> cells);  // as many as columns; missing ones at the end are empty
  size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }

  std::string Text(const Layout& layout) const;

 private:
  std::vector<size_t> ShownColumns(const Layout& layout, size_t rows) const;
  size_t WidthOf(size_t column, const Layout& layout, size_t rows) const;
  void CutAlike(const Layout& layout, const std::vector<size_t>& shown,
                std::vector<size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace debrief
