#include "base/text/columns.h"

#include <algorithm>
#include <cstdint>

#include "base/text/safe_name.h"

namespace debrief {

namespace {

constexpr std::string_view kDots = "...";

bool Continues(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) == 0x80; }

// Where the character after the first `columns` of them begins.
size_t BytesOf(std::string_view text, size_t columns) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!Continues(text[at]) && columns-- == 0) break;
  }
  return at;
}

}  // namespace

size_t TextWidth(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), Continues));
}

std::string CutEnd(std::string_view text, size_t width) {
  if (TextWidth(text) <= width) return std::string(text);
  size_t kept = width > kDots.size() ? width - kDots.size() : 0;
  return std::string(text.substr(0, BytesOf(text, kept))).append(kDots);
}

std::string CutMiddle(std::string_view text, size_t width) {
  size_t all = TextWidth(text);
  if (all <= width) return std::string(text);
  size_t kept = width > kDots.size() ? width - kDots.size() : 0;
  size_t head = kept / 2;
  return std::string(text.substr(0, BytesOf(text, head)))
      .append(kDots)
      .append(text.substr(BytesOf(text, all - (kept - head))));
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

std::string TextTable::Text(const Layout& layout) const {
  const size_t rows = std::min(layout.most, rows_.size());
  const std::vector<size_t> shown = ShownColumns(layout, rows);
  std::vector<size_t> widths;
  for (size_t column : shown) widths.push_back(WidthOf(column, layout, rows));
  std::string out;
  auto add_line = [&](auto&& cell_of) {
    std::string line(layout.indent, ' ');
    size_t used = layout.indent;
    for (size_t i = 0; i < shown.size(); ++i) {
      const bool is_last = i + 1 == shown.size();
      size_t room = widths[i];
      if (is_last && layout.width > 0) {
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
  for (size_t row = 0; row < rows; ++row)
    add_line([&](size_t column) { return rows_[row][column]; });
  return out;
}

}  // namespace debrief
