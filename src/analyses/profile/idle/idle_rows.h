// Rows of profile_idle and profile_gap for one timeline, by our definition.
#pragma once

#include <vector>

#include "model/timeline/idle_gaps.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_idle {

using timeline::Cause;
using timeline::Gap;

void AddIdle(const timeline::TimelineView& view, const std::vector<Gap>& gaps, Part& part);
void AddLongestGaps(const timeline::TimelineView& view, const std::vector<Gap>& gaps, Part& part);

}  // namespace debrief::analyses::profile_idle
