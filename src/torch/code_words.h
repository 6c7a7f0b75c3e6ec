// A piece of code in a sentence.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text/strings.h"

namespace debrief {

// "forward (model.py:14)", without the folders of the file. What is not known is left out: names
// that stand for an unknown one, as "(unknown)", and lines that are none.
inline std::string CodeInWords(std::string_view function, std::string_view file, int64_t line) {
  std::string_view name = FileName(file);
  name = name.substr(name.rfind('\\') + 1);  // npos + 1 is 0
  if (name.starts_with('(') || name.starts_with('<')) name = {};
  std::string place(name);
  if (!place.empty() && line > 0) place += fmt::format(":{}", line);
  if (function.empty()) return place.empty() ? "a frame without a name" : place;
  return place.empty() ? std::string(function) : fmt::format("{} ({})", function, place);
}

}  // namespace debrief
