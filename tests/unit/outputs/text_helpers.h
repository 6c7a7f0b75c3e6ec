// Questions that tests ask of texts which outputs write.
#pragma once

#include <string_view>

namespace debrief::testing {

inline size_t CountOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

}  // namespace debrief::testing
