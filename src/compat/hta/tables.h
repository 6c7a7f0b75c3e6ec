// Rows of the derived tables of profiles as Holistic Trace Analysis (HTA) counts them, definition
// "hta": the analyses call these beside their own. Quirks and rounding are HTA's, so that figures
// agree with its own.
#pragma once

#include <vector>

#include "compat/hta/rows.h"
#include "model/timeline/launches.h"

namespace debrief::hta {

// profile_breakdown.
void AddBreakdown(const TimelineView& view, Names& names, Part& part);

// profile_overlap and profile_kernel_types.
void AddOverlap(const TimelineView& view, Names& names, Part& part);

// profile_idle.
void AddIdle(const TimelineView& view, Names& names, Part& part);

// profile_kernel: the kernel table with HTA's defaults.
//
// For computation and communication: durations by name, longest sum first. With more than ten
// names, those behind the tenth and those whose running sum exceeds the 0.8 quantile of all running
// sums become "others", and everything is summarised once more, over the sums: then smallest,
// largest and mean of a name are all its sum. That is a defect, and here so that figures agree.
void AddKernels(const TimelineView& view, Names& names, Part& part);

// Of what HTA's filter leaves, every piece of work with its call, rounded as HTA does. HTA counts
// fewer functions as launches in its statistics than in its queues.
struct Launches {
  std::vector<timeline::Launch> for_statistics, for_queues;
};
Launches LaunchesOf(const TimelineView& view, Names& names);

}  // namespace debrief::hta
