// The arrows of a profile: from the call that launched a piece of work to the work, and those of
// the file itself (a forward op to its backward).
#pragma once

#include <vector>

#include "model/timeline/view.h"
#include "outputs/report/html/timeline_island.h"

namespace debrief::outputs::html {

// In order of `to`; only those between slices that are `kept`. Linear but for the sorting of the
// file's own arrows.
std::vector<TimelineArrow> ProfileFlows(const timeline::TimelineView& view,
                                        const std::vector<bool>& kept, IslandWriter& writer);

}  // namespace debrief::outputs::html
