// Idle time of streams as Holistic Trace Analysis counts it.
#pragma once

#include "compat/hta/rows.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_idle {

// Rows of profile_idle, definition hta.
void AddHtaIdle(const timeline::TimelineView& view, const timeline::HtaRows& rows, Part& part);

}  // namespace debrief::analyses::profile_idle
