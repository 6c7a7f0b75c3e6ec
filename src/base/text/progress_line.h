// One line that says how far long work is, for a terminal:
//
//   import   [##########..........]  1.2 of 4.5 GB  340 MB/s  10 s left
//   analyse  [#####...............]  9 of 36
//
// What does not fit is left out from the right; a terminal of 20 columns still shows the stage and
// how much is done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/threads/progress.h"

namespace debrief {

struct ProgressState {
  std::string_view stage;
  ProgressUnit unit = ProgressUnit::kSteps;
  uint64_t done = 0;
  uint64_t total = 0;      // 0: not known, there is no bar
  int64_t elapsed_ns = 0;  // since the stage began
};

// At most `width` columns, without a line end.
std::string ProgressLine(const ProgressState& state, int width);

}  // namespace debrief
