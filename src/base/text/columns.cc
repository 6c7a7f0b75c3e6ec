#include "base/text/columns.h"

#include <algorithm>
#include <cstdint>

#include "base/text/safe_name.h"
#include "base/text/utf8.h"

namespace debrief {

namespace {

constexpr std::string_view kDots = "...";

}  // namespace

size_t TextWidth(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), IsContinuation));
}

size_t BytesOfColumns(std::string_view text, size_t columns) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!IsContinuation(text[at]) && columns-- == 0) break;
  }
  return at;
}

std::string CutEnd(std::string_view text, size_t width) {
  if (TextWidth(text) <= width) return std::string(text);
  size_t kept = width > kDots.size() ? width - kDots.size() : 0;
  return std::string(text.substr(0, BytesOfColumns(text, kept))).append(kDots);
}

std::string CutMiddle(std::string_view text, size_t width) {
  size_t all = TextWidth(text);
  if (all <= width) return std::string(text);
  size_t kept = width > kDots.size() ? width - kDots.size() : 0;
  size_t head = kept / 2;
  return std::string(text.substr(0, BytesOfColumns(text, head)))
      .append(kDots)
      .append(text.substr(BytesOfColumns(text, all - (kept - head))));
}

std::vector<std::string> Wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(' ', begin), text.size());
    std::string_view word = text.substr(begin, end - begin);
    if (!line.empty() && TextWidth(line) + 1 + TextWidth(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    begin = end + 1;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.head = Printable(column.head);
}

void TextTable::Add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<size_t> TextTable::ShownColumns(const Layout& layout, size_t rows) const {
  std::vector<size_t> shown;
  for (size_t column = 0; column < columns_.size(); ++column) {
    bool is_empty =
        std::all_of(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(rows),
                    [&](const auto& row) { return row[column].empty() || row[column] == "-"; });
    if (!layout.drop_empty || !is_empty) shown.push_back(column);
  }
  return shown;
}

size_t TextTable::WidthOf(size_t column, const Layout& layout, size_t rows) const {
  size_t width = layout.has_head ? TextWidth(columns_[column].head) : 0;
  for (size_t row = 0; row < rows; ++row) width = std::max(width, TextWidth(rows_[row][column]));
  return std::min(width, columns_[column].widest);
}

// Finds the widest cell of text with which a line fits.
void TextTable::CutAlike(const Layout& layout, const std::vector<size_t>& shown,
                         std::vector<size_t>& widths) const {
  auto capped = [&](size_t i, size_t cap) {
    return columns_[shown[i]].align == kRight ? widths[i] : std::min(widths[i], cap);
  };
  auto fits = [&](size_t cap) {
    size_t total = layout.indent + layout.gap * (widths.size() - 1);
    for (size_t i = 0; i < widths.size(); ++i) total += capped(i, cap);
    return total <= layout.width;
  };
  if (widths.empty() || fits(SIZE_MAX)) return;
  size_t cap = layout.width;
  while (cap > layout.least_cell && !fits(cap)) --cap;
  for (size_t i = 0; i < widths.size(); ++i) widths[i] = capped(i, cap);
}

std::string TextTable::Text(const Layout& layout) const {
  const size_t rows = std::min(layout.most, rows_.size());
  const std::vector<size_t> shown = ShownColumns(layout, rows);
  std::vector<size_t> widths;
  for (size_t column : shown) widths.push_back(WidthOf(column, layout, rows));
  const bool cut_alike = layout.width > 0 && layout.least_cell > 0;
  if (cut_alike) CutAlike(layout, shown, widths);
  std::string out;
  auto add_line = [&](auto&& cell_of) {
    std::string line(layout.indent, ' ');
    size_t used = layout.indent;
    for (size_t i = 0; i < shown.size(); ++i) {
      const bool is_last = i + 1 == shown.size();
      size_t room = widths[i];
      if (is_last && layout.width > 0 && !cut_alike) {
        size_t left = layout.width > used ? layout.width - used : 0;
        room = std::min(room, std::max(left, layout.least_last));
      }
      std::string cell = CutEnd(cell_of(shown[i]), room);
      std::string blanks(widths[i] - std::min(widths[i], TextWidth(cell)), ' ');
      const bool to_the_right = columns_[shown[i]].align == kRight;
      line += to_the_right ? blanks + cell : cell + blanks;
      line.append(layout.gap, ' ');
      used += widths[i] + layout.gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  if (layout.has_head) add_line([&](size_t column) { return columns_[column].head; });
  if (layout.has_rule) {
    std::string rule(layout.indent, ' ');
    for (size_t i = 0; i < widths.size(); ++i)
      rule.append(i == 0 ? 0 : layout.gap, ' ').append(widths[i], '-');
    out += rule + "\n";
  }
  for (size_t row = 0; row < rows; ++row)
    add_line([&](size_t column) { return rows_[row][column]; });
  return out;
}

}  // namespace debrief
