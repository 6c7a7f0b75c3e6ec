#include "outputs/terminal/console/paper.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/safe_name.h"

namespace debrief::outputs::console {

namespace {

// Terminal columns of UTF-8 text; wide characters are rare in our texts and count as one.
size_t WidthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

// The text up to `width` columns, cut with "..." when there is more.
std::string Cut(const std::string& text, size_t width) {
  if (WidthOf(text) <= width || width < 4) return text;
  std::string cut;
  size_t columns = 0;
  for (char c : text) {
    bool starts = (static_cast<uint8_t>(c) & 0xc0) != 0x80;
    if (starts && columns++ == width - 3) break;
    cut += c;
  }
  return cut + "...";
}

// Words of `text` in lines of at most `width` columns; a longer word has a line of its own.
std::vector<std::string> Wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(' ', begin), text.size());
    std::string_view word = text.substr(begin, end - begin);
    if (!line.empty() && WidthOf(line) + 1 + WidthOf(word) > width) {
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

}  // namespace

Ink InkOf(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return Ink::kRed;
    case Severity::kWarning:
      return Ink::kYellow;
    case Severity::kInfo:
      return Ink::kBlue;
  }
  return Ink::kPlain;
}

std::string Paper::Coloured(std::string_view text, Ink ink) const {
  static constexpr const char* kCodes[] = {"",           "\x1b[1m",  "\x1b[2m",
                                           "\x1b[1;31m", "\x1b[33m", "\x1b[34m"};
  if (!colour_ || ink == Ink::kPlain) return std::string(text);
  return fmt::format("{}{}\x1b[0m", kCodes[static_cast<size_t>(ink)], text);
}

void Paper::Title(std::string_view title) {
  sink_.Write(empty_ ? "" : "\n");
  sink_.Write(Coloured(title, Ink::kBold) + "\n");
  empty_ = false;
}

void Paper::Line(std::string_view text, int hang, Ink ink) {
  std::string clean = Printable(text);
  size_t width = static_cast<size_t>(std::max(20, width_ - hang));
  std::string indent(static_cast<size_t>(hang), ' ');
  for (const std::string& line : Wrap(clean, width))
    sink_.Write(indent + Coloured(line, ink) + "\n");
  empty_ = false;
}

void Paper::Labelled(std::string_view label, Ink ink, std::string_view text) {
  constexpr size_t kLabelWidth = 9;
  std::string clean = Printable(text);
  size_t width = static_cast<size_t>(std::max(20, width_)) - kLabelWidth;
  std::string front = Coloured(label, ink) +
                      std::string(kLabelWidth - std::min(kLabelWidth - 1, label.size()), ' ');
  for (const std::string& line : Wrap(clean, width)) {
    sink_.Write(front + line + "\n");
    front = std::string(kLabelWidth, ' ');
  }
  empty_ = false;
}

void Paper::Columns(const std::vector<std::vector<std::string>>& rows, int indent) {
  std::vector<std::vector<std::string>> clean = rows;
  std::vector<size_t> widths;
  for (auto& row : clean) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = Printable(row[i]);
      widths[i] = std::max(widths[i], WidthOf(row[i]));
    }
  }
  for (const auto& row : clean) {
    std::string line(static_cast<size_t>(indent), ' ');
    size_t used = line.size();
    for (size_t i = 0; i < row.size(); ++i) {
      size_t left = static_cast<size_t>(width_) > used ? static_cast<size_t>(width_) - used : 0;
      bool last = i + 1 == row.size();
      line += last ? Cut(row[i], left) : row[i] + std::string(widths[i] - WidthOf(row[i]) + 2, ' ');
      used += widths[i] + 2;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    sink_.Write(line + "\n");
  }
  empty_ = false;
}

}  // namespace debrief::outputs::console
