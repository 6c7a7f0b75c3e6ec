// Arrows of one timeline as Perfetto wants them: numbers at the slices that they touch. From the
// call that launched work to that work (by correlation), and those of table timeline_flow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "outputs/timeline_merge.h"

namespace debrief::outputs::perfetto {

struct ArrowEnd {
  int32_t slice = 0;
  uint64_t id = 0;
  bool ends = false;
};

// In order of slice.
std::vector<ArrowEnd> FindArrows(const MergedTimeline& merged);

}  // namespace debrief::outputs::perfetto
