// Texts of inputs have any length; the page shows their beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace debrief::outputs::html {

// At most `longest` bytes, whole characters. Names of C++ kernels have up to some thousand.
inline std::string_view CutText(std::string_view text, size_t longest = 300) {
  if (text.size() <= longest) return text;
  size_t end = longest;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace debrief::outputs::html
