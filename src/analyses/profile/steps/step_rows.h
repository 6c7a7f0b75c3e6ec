// The steps of one timeline with what devices did in them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/timeline/device_class.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_steps {

// Figures of a step, in the order of kFigureNames.
enum Figure : size_t {
  kHost,
  kDuration,
  kBusy,
  kCompute,
  kExposedCommunication,
  kExposedMemory,
  kIdle,
  kWorks,
  kKernels,
  kFigures
};
inline constexpr std::array<std::string_view, kFigures> kFigureNames = {
    "host_ns",           "duration_ns", "busy_ns", "compute_ns", "exposed_communication_ns",
    "exposed_memory_ns", "idle_ns",     "works",   "kernels"};

struct StepFigures {
  int32_t step = kNone32;
  int64_t label = kNone64;
  int64_t start = 0;
  bool whole = true;
  bool on_device = true;  // work of devices was recorded
  std::array<int64_t, kFigures> figures{};
};

// Empty when the timeline has no steps.
std::vector<StepFigures> StepFiguresOf(const timeline::TimelineView& view,
                                       const timeline::DeviceClasses& classes);

}  // namespace debrief::analyses::profile_steps
