// The rows of one device in one snapshot.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "model/model.h"

namespace debrief::analyses::memory_use {

// Rows [first, first + count) of memory_event.
struct EventRun {
  size_t first = 0;
  size_t count = 0;
};

struct Device {
  Identity who;
  bool whole = true;  // the snapshot was read to its end
  std::vector<size_t> segments;
  std::vector<size_t> blocks;
  std::vector<EventRun> events;  // in order; one run unless the file is odd
  size_t event_count = 0;
  std::vector<size_t> annotations;
};

using DeviceKey = std::pair<int32_t, int32_t>;  // input, device
using Devices = std::map<DeviceKey, Device>;

// One pass over each of the memory tables.
Devices GatherDevices(const Model& model);

// Files may tell absurd numbers; the sum of them stays the largest there is. None counts as 0.
inline int64_t Plus(int64_t a, int64_t b) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (a == kNone64) a = 0;
  if (b == kNone64) b = 0;
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum) && sum != kNone64) return sum;
  return a > 0 ? kMost : -kMost;
}
inline int64_t Minus(int64_t a, int64_t b) { return Plus(a, b == kNone64 ? 0 : -b); }

}  // namespace debrief::analyses::memory_use
