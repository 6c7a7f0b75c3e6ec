// Rows of profile_breakdown for one timeline, by each definition.
#pragma once

#include "compat/hta/rows.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_breakdown {

// The whole timeline, its devices where there are several, its streams and its steps.
void AddDebrief(const timeline::TimelineView& view, const timeline::DeviceWorks& works, Part& part);

// What TraceLens makes of a name, decided once for each distinct one.
class TraceLensNames {
 public:
  explicit TraceLensNames(const Model& model)
      : pools_(model.pools), classes_(model.pools.strings.size()) {}

  // kCompute, kCommunication or kMemcpy.
  timeline::DeviceClass Of(StringId name, bool is_copy);

 private:
  const Pools& pools_;
  std::vector<timeline::DeviceClass> classes_;  // of kernels, by name; kNone is not known yet
};

void AddTraceLens(const timeline::TimelineView& view, const timeline::DeviceWorks& works,
                  TraceLensNames& names, Part& part);

void AddHta(const timeline::TimelineView& view, timeline::HtaNames& names, Part& part);

}  // namespace debrief::analyses::profile_breakdown
