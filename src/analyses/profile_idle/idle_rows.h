// Rows of profile_idle and profile_gap for one timeline, by our definition.
#pragma once

#include <vector>

#include "analyses/profile_idle/gaps.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_idle {

void AddIdle(const timeline::TimelineView& view, const std::vector<Gap>& gaps, Part& part);
void AddLongestGaps(const timeline::TimelineView& view, const std::vector<Gap>& gaps, Part& part);

}  // namespace debrief::analyses::profile_idle
