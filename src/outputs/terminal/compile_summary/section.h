// A table under a title, of which an answer has several.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/columns.h"
#include "base/text/strings.h"
#include "base/text/units.h"

namespace debrief::outputs::compile_summary {

class Section {
 public:
  // The last column is cut at `width`.
  Section(std::string_view title, const std::vector<std::string>& heads, size_t width)
      : title_(title), width_(width), table_(ColumnsOf(heads, width)) {}

  void Row(std::vector<std::string> cells) { table_.Add(std::move(cells)); }

  // At most `most` rows and a line about the others. Nothing when there are no rows.
  std::string Text(size_t most = SIZE_MAX) const {
    if (table_.empty()) return "";
    std::string text =
        title_ + "\n" + table_.Text({.indent = 2, .width = width_, .least_last = 0, .most = most});
    if (most < table_.size())
      text += fmt::format("  ... and {} more (--json has all)\n", table_.size() - most);
    return text;
  }

 private:
  // On a terminal that is not wide no column but the last takes more than kWidest.
  static std::vector<TextTable::Column> ColumnsOf(const std::vector<std::string>& heads,
                                                  size_t width) {
    constexpr size_t kWide = 160;
    constexpr size_t kWidest = 44;
    std::vector<TextTable::Column> columns;
    for (const std::string& head : heads)
      columns.push_back({.head = head, .widest = width < kWide ? kWidest : SIZE_MAX});
    columns.back().widest = SIZE_MAX;
    return columns;
  }

  std::string title_;
  size_t width_;
  TextTable table_;
};

// "train.py:27"; the last part of the path is enough to find it. "-" when not known.
inline std::string PlaceText(std::string_view file, int64_t line) {
  return file.empty() ? "-" : fmt::format("{}:{}", FileName(file), line);
}

}  // namespace debrief::outputs::compile_summary
