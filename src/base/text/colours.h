// Colours of terminals in a text.
#pragma once

#include <string>
#include <string_view>

namespace debrief {

inline bool HasColours(std::string_view text) {
  return text.find('\x1b') != std::string_view::npos;
}

// Writes `text` without colours to `clean`: ESC [ parameters letter. Any other escape loses its
// first two bytes.
void StripColours(std::string_view text, std::string& clean);

// The same as a copy.
std::string WithoutColours(std::string_view text);

}  // namespace debrief
