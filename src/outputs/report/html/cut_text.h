// Texts of inputs have any length; the page shows their beginning.
#pragma once

#include <string_view>

#include "base/text/utf8.h"

namespace debrief::outputs::html {

// At most `longest` bytes, whole characters. Names of C++ kernels have up to some thousand.
inline std::string_view CutText(std::string_view text, size_t longest = 300) {
  return CutBytes(text, longest);
}

}  // namespace debrief::outputs::html
