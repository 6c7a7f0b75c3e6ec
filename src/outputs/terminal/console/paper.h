// Text for a terminal: wrapping, columns and colour in one place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/diagnostics.h"
#include "outputs/output.h"

namespace debrief::outputs::console {

enum class Ink : uint8_t { kPlain, kBold, kDim, kRed, kYellow, kBlue };

class Paper {
 public:
  Paper(TextSink& sink, int width, bool colour) : sink_(sink), width_(width), colour_(colour) {}

  // A section's title with an empty line before it, except at the top.
  void Title(std::string_view title);

  // Wrapped at the width; following lines are indented to `hang` blanks.
  void Line(std::string_view text, int hang = 0, Ink ink = Ink::kPlain);

  // A word in front ("error") and text that wraps beside it.
  void Labelled(std::string_view label, Ink ink, std::string_view text);

  // Rows with aligned columns; the last column takes what is left and is cut with "..." when too
  // long.
  void Columns(const std::vector<std::vector<std::string>>& rows, int indent);

 private:
  std::string Coloured(std::string_view text, Ink ink) const;

  TextSink& sink_;
  int width_;
  bool colour_;
  bool empty_ = true;
};

Ink InkOf(Severity severity);

}  // namespace debrief::outputs::console
