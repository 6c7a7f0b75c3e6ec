// Rows of profile_breakdown and profile_step_category for one timeline, by each definition.
#pragma once

#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_breakdown {

// The whole timeline, its devices where there are several, its streams and its steps.
void AddDebrief(const timeline::TimelineView& view, const timeline::DeviceWorks& works, Part& part);

// What TraceLens makes of the name of a kernel: kCompute, kCommunication or kMemcpy.
timeline::DeviceClass TraceLensClass(std::string_view name);
using TraceLensNames = timeline::OfName<timeline::DeviceClass>;

void AddTraceLens(const timeline::TimelineView& view, const timeline::DeviceWorks& works,
                  TraceLensNames& names, Part& part);

// Rows of profile_step_category: steps as TensorBoard's profiler plug-in divides them. Categories
// of devices and host come in an order, each takes the time that those before it left.
void AddStepCategories(const timeline::TimelineView& view, const timeline::DeviceWorks& works,
                       Part& part);

}  // namespace debrief::analyses::profile_breakdown
