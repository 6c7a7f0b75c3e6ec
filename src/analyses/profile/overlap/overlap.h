// Rows of profile_overlap for one timeline.
#pragma once

#include "compat/hta/rows.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_overlap {

void AddOverlap(const timeline::TimelineView& view, const timeline::DeviceWorks& works, Part& part);
void AddHtaOverlap(const timeline::TimelineView& view, const timeline::HtaRows& rows, Part& part);

}  // namespace debrief::analyses::profile_overlap
