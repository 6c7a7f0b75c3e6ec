// Reading a text from its front to its end.
#pragma once

#include <charconv>
#include <string_view>

#include "base/text/strings.h"

namespace debrief {

// A byte of a name in Python or C++.
inline bool IsWord(char c) { return IsAlphanumeric(c) || c == '_'; }

// As Python's str.isspace() for ASCII: vertical tab and form feed count.
inline bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// True when `text` begins (ends) with `part`, which is taken off.
inline bool TakePrefix(std::string_view& text, std::string_view part) {
  if (!text.starts_with(part)) return false;
  text.remove_prefix(part.size());
  return true;
}
inline bool TakeSuffix(std::string_view& text, std::string_view part) {
  if (!text.ends_with(part)) return false;
  text.remove_suffix(part.size());
  return true;
}

// The first line of `text` without its end; both are taken off.
inline std::string_view TakeLine(std::string_view& text) {
  const std::string_view line = FirstLine(text);
  text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
  return line;
}

// The number that `text` begins with; `otherwise` without one.
template <typename Number>
Number LeadingNumber(std::string_view text, Number otherwise) {
  std::from_chars(text.data(), text.data() + text.size(), otherwise);
  return otherwise;
}

}  // namespace debrief
