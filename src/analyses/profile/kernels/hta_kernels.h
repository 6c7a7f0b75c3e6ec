// The kernel table as Holistic Trace Analysis (HTA) makes it with its defaults.
//
// For computation and communication: durations by name, longest sum first. With more than ten
// names, those behind the tenth and those whose running sum exceeds the 0.8 quantile of all running
// sums become "others", and everything is summarised once more, over the sums: then smallest,
// largest and mean of a name are all its sum. That is a defect, and here so that figures agree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/stats/statistics.h"
#include "compat/hta/rows.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_kernels {

struct HtaKernel {
  std::string_view name;
  std::string_view type;
  Summary summary;  // whole microseconds; standard deviation 0 of a single value
};

// In HTA's order: by type, then name.
std::vector<HtaKernel> HtaKernelsOf(const timeline::TimelineView& view, timeline::HtaNames& names);

}  // namespace debrief::analyses::profile_kernels
