// Rows of profile_kernel_types for one timeline.
#pragma once

#include "compat/hta/rows.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_overlap {

void AddKernelTypes(const timeline::TimelineView& view, const timeline::DeviceWorks& works,
                    Part& part);
void AddHtaKernelTypes(const timeline::TimelineView& view, const timeline::HtaRows& rows,
                       Part& part);

}  // namespace debrief::analyses::profile_overlap
