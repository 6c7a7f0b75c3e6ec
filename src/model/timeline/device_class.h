// What a slice on a device is for: computing, communicating, copying, filling or waiting.
//
// Kernels are told apart by name: one that carries the name of a collective library or of a
// collective is communication, every other kernel computes. A class is decided once for each
// distinct name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/timeline/view.h"

namespace debrief::timeline {

enum class DeviceClass : uint8_t { kNone, kCompute, kCommunication, kMemcpy, kMemset, kSync };
std::string_view DeviceClassName(DeviceClass device_class);

// nccl, rccl, hccl, oneCCL, the one-shot and two-shot all-reduce kernels of inference servers, ...
bool IsCommunicationName(std::string_view kernel);

class DeviceClasses {
 public:
  explicit DeviceClasses(const Model& model);

  // kNone for what is not on a device, and for annotations and counter ranges.
  DeviceClass Of(StringId kind, StringId name) const;
  DeviceClass Of(const TimelineView& view, int32_t slice) const {
    return Of(view.kind[TimelineView::At(slice)], view.name[TimelineView::At(slice)]);
  }

 private:
  const Pools& pools_;
  KindIds kinds_;
  mutable std::vector<uint8_t> is_communication_;  // by name; 2 is not known yet
};

}  // namespace debrief::timeline
