#include "outputs/terminal/compile_summary/text_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/safe_name.h"
#include "base/text/utf8.h"

namespace debrief::outputs::compile_summary {

namespace {

// On a terminal that is not wide no column but the last takes more than this.
constexpr size_t kWide = 160;
constexpr size_t kWidest = 44;

// Of bytes that are one column each, near enough: names are ASCII nearly always.
std::string Cut(const std::string& text, size_t width) {
  if (text.size() <= width) return text;
  size_t end = width > 3 ? width - 3 : 0;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace

void TextBlock::Write(size_t most, size_t width, std::string& out) const {
  if (rows_.empty()) return;
  size_t shown = std::min(most, rows_.size());
  std::vector<size_t> widths(heads_.size());
  for (size_t c = 0; c < heads_.size(); ++c) {
    widths[c] = heads_[c].size();
    for (size_t r = 0; r < shown; ++r) widths[c] = std::max(widths[c], rows_[r][c].size());
    if (width < kWide) widths[c] = std::min(widths[c], kWidest);
  }
  auto line = [&](const std::vector<std::string>& cells) {
    std::string text = " ";
    for (size_t c = 0; c < cells.size(); ++c) {
      text += ' ';
      bool last = c + 1 == cells.size();
      text += last ? Cut(cells[c], width > text.size() ? width - text.size() : 0)
                   : fmt::format("{:<{}} ", Cut(cells[c], widths[c]), widths[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  out += fmt::format("\n{}\n", title_);
  line(heads_);
  for (size_t r = 0; r < shown; ++r) line(rows_[r]);
  if (shown < rows_.size())
    out += fmt::format("  ... and {} more (--json has all)\n", rows_.size() - shown);
}

std::string SecondsText(double seconds) {
  if (std::isnan(seconds)) return "-";
  if (seconds >= 100) return fmt::format("{:.0f} s", seconds);
  if (seconds >= 0.9995) return fmt::format("{:.1f} s", seconds);
  return fmt::format("{:.0f} ms", seconds * 1000);
}

std::string BytesText(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.1f} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.1f} MB", bytes / 1e6);
  return bytes >= 1e3 ? fmt::format("{:.0f} KB", bytes / 1e3) : fmt::format("{:.0f} B", bytes);
}

std::string PlaceText(std::string_view file, int64_t line) {
  if (file.empty()) return "-";
  return fmt::format("{}:{}", Printable(file.substr(file.rfind('/') + 1)), line);
}

std::string OneLine(std::string_view text) { return Printable(text.substr(0, text.find('\n'))); }

}  // namespace debrief::outputs::compile_summary
