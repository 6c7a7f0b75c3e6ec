// Steps as the profiler plug-in of TensorBoard divides them.
#pragma once

#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_breakdown {

// Rows of profile_step_category. Categories of devices and host come in an order, each takes the
// time that those before it left.
void AddStepCategories(const timeline::TimelineView& view, const timeline::DeviceWorks& works,
                       Part& part);

}  // namespace debrief::analyses::profile_breakdown
