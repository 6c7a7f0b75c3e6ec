// The argument of -i: which files are meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debrief::accel {

struct InputList {
  std::vector<std::string> files;      // sorted within a pattern
  std::vector<std::string> unmatched;  // elements that name nothing
};

// Elements are separated by commas or white space. Without `compat` a whole argument that is a file
// counts as one, and
// '...' and "..." keep blanks and commas; wildcards may stand in folders. With it, wildcards stand
// in the last part of a path only.
InputList FindFiles(std::string_view list, bool compat);

}  // namespace debrief::accel
