// Text for a terminal: wrapping, tables and colour in one place.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text/clauses.h"
#include "base/text/columns.h"
#include "base/text/safe_name.h"
#include "model/diagnostics.h"
#include "outputs/output.h"

namespace debrief::outputs::console {

enum class Ink : uint8_t { kPlain, kBold, kDim, kRed, kYellow, kBlue };

class Paper {
 public:
  Paper(TextSink& sink, int width, bool colour) : sink_(sink), width_(width), colour_(colour) {}

  // A section's title with an empty line before it, except at the top.
  void Title(std::string_view title) {
    sink_.Write(empty_ ? "" : "\n");
    sink_.Write(Coloured(title, Ink::kBold) + "\n");
    empty_ = false;
  }

  // Wrapped at the width; following lines are indented to `hang` blanks.
  void Line(std::string_view text, int hang = 0, Ink ink = Ink::kPlain) {
    std::string clean = Printable(text);
    size_t width = static_cast<size_t>(std::max(20, width_ - hang));
    std::string indent(static_cast<size_t>(hang), ' ');
    for (const std::string& line : Wrap(clean, width)) {
      sink_.Write(indent + Coloured(line, ink) + "\n");
      ++lines_;
    }
    empty_ = false;
  }

  // A word in front ("error") and text that wraps beside it, at most `most` lines of it.
  void Labelled(std::string_view label, Ink ink, std::string_view text, size_t most = SIZE_MAX) {
    std::string front = Coloured(label, ink) +
                        std::string(kLabelWidth - std::min(kLabelWidth - 1, label.size()), ' ');
    for (const std::string& line : WrapAtMost(Printable(text), Room(), most)) {
      sink_.Write(front + line + "\n");
      front = std::string(kLabelWidth, ' ');
      ++lines_;
    }
    empty_ = false;
  }

  // The same without a word: below a labelled one, and paler.
  void Beside(std::string_view text, size_t most = 1) {
    const std::string front(kLabelWidth, ' ');
    for (const std::string& line : WrapAtMost(Printable(text), Room(), most)) {
      sink_.Write(front + Coloured(line, Ink::kDim) + "\n");
      ++lines_;
    }
    empty_ = false;
  }

  // Lines so far, but for titles and tables.
  size_t lines() const { return lines_; }

  // Columns that a labelled text has.
  size_t Room() const { return static_cast<size_t>(std::max(20, width_)) - kLabelWidth; }

  // Without its head; the last column takes what is left.
  void Table(const TextTable& table, size_t indent) {
    constexpr size_t kLeastLast = 4;
    sink_.Write(table.Text({.indent = indent,
                            .width = static_cast<size_t>(width_),
                            .least_last = kLeastLast,
                            .has_head = false}));
    empty_ = false;
  }

 private:
  static constexpr size_t kLabelWidth = 9;

  std::string Coloured(std::string_view text, Ink ink) const {
    static constexpr const char* kCodes[] = {"",           "\x1b[1m",  "\x1b[2m",
                                             "\x1b[1;31m", "\x1b[33m", "\x1b[34m"};
    if (!colour_ || ink == Ink::kPlain) return std::string(text);
    return fmt::format("{}{}\x1b[0m", kCodes[static_cast<size_t>(ink)], text);
  }

  TextSink& sink_;
  int width_;
  bool colour_;
  bool empty_ = true;
  size_t lines_ = 0;
};

inline Ink InkOf(Severity severity) {
  if (severity == Severity::kError) return Ink::kRed;
  return severity == Severity::kWarning ? Ink::kYellow : Ink::kBlue;
}

}  // namespace debrief::outputs::console
