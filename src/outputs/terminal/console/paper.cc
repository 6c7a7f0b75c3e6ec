#include "outputs/terminal/console/paper.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/safe_name.h"

namespace debrief::outputs::console {

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

void Paper::Table(const TextTable& table, size_t indent) {
  constexpr size_t kLeastLast = 4;
  sink_.Write(table.Text({.indent = indent,
                          .width = static_cast<size_t>(width_),
                          .least_last = kLeastLast,
                          .has_head = false}));
  empty_ = false;
}

}  // namespace debrief::outputs::console
