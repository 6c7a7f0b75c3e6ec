// Names that logrotate and people give to what they put aside.
#pragma once

#include <string_view>

namespace debrief {

// "trace.log" of "trace.log.2", "trace.log.2.gz" and "trace.log.bak"; any other path as it is,
// without its ".gz".
inline std::string_view BeforeRotation(std::string_view path) {
  for (std::string_view packed : {".gz", ".zst"}) {
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  }
  for (std::string_view aside : {".bak", ".old"}) {
    if (path.ends_with(aside)) return path.substr(0, path.size() - aside.size());
  }
  const size_t dot = path.rfind('.');
  const bool numbered = dot != std::string_view::npos && dot + 1 < path.size() &&
                        path.size() - dot <= 4 &&
                        path.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
  return numbered ? path.substr(0, dot) : path;
}

}  // namespace debrief
