// The calls of ops whose work ran on a device, put together by what they had to do.
//
// Work belongs to the outermost op around its launch that has a model, else to the innermost op;
// communication is left out. The time of a call is the union of its work. TraceLens gives the work
// to every op with a model around it.
//
// In a profile of the host alone ops are their own work.
//
// Cost: a walk up the slices around each launch, and sorting.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyses/profile/roofline/op_models.h"
#include "base/stats/intervals.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_roofline {

enum class Direction : uint8_t { kForward, kBackward, kRecompute };

// Calls with the same arguments.
struct CallKey {
  StringId op = StringId::kNone, shapes = StringId::kNone, types = StringId::kNone;
  StringId values = StringId::kNone, strides = StringId::kNone, kernel_file = StringId::kNone;
  Direction direction = Direction::kForward;
  auto operator<=>(const CallKey&) const = default;
};

struct CallKind {
  CallKey key;
  int64_t count = 0, kernels = 0, busy_ns = 0;
  int64_t starved = 0;                // kernels that found the device idle
  StringId kernel = StringId::kNone;  // one of them
  bool is_copy = false;               // between host and device
};

struct Call {
  int32_t op = kNone32;      // slice
  int32_t module = kNone32;  // slice of the innermost nn.Module call
  int32_t step = kNone32;
  int32_t kernels = 0;
  int64_t busy_ns = 0;
  size_t kind = 0;
};

struct DeviceCalls {
  std::vector<CallKind> kinds;  // in order of their first calls
  std::vector<Call> calls;
  std::vector<CallKind> of_tracelens;  // direction is left out
  int64_t device_busy_ns = 0;          // any work but communication ran
  int64_t matrix_busy_ns = 0;
  int64_t floor_ns = 0;  // of the shortest kernel
};

DeviceCalls FindCalls(const timeline::TimelineView& view, const timeline::DeviceClasses& classes);

}  // namespace debrief::analyses::profile_roofline
