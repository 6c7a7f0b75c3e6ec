// Steps as TensorBoard's profiler plug-in divides them: categories of devices and host in an order,
// each of which takes the time that those before it left.
#pragma once

#include <vector>

#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_breakdown {

class StepCategories {
 public:
  explicit StepCategories(const Model& model)
      : pools_(model.pools), is_data_loader_(model.pools.strings.size(), kUnknown) {}

  // Rows of profile_step_category for one timeline.
  void Add(const timeline::TimelineView& view, const timeline::DeviceWorks& works, Part& part);

 private:
  static constexpr uint8_t kUnknown = 2;

  bool IsDataLoader(StringId name);
  IntervalSet HostTimes(const timeline::TimelineView& view, size_t category);

  const Pools& pools_;
  std::vector<uint8_t> is_data_loader_;  // by name
};

}  // namespace debrief::analyses::profile_breakdown
