// Whose devices a timeline is of.
#pragma once

#include <string_view>

#include "model/timeline/view.h"

namespace debrief::accel {

// The name of a data file of kernel_category.h, by what the timeline says of its devices, or else
// by the first call of a runtime that tells; empty when nothing does.
std::string_view VendorOf(const timeline::TimelineView& view);

}  // namespace debrief::accel
