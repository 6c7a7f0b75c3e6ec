// Launches and the kernels they lead to, by correlation.
//
// The reference knows a launch by its correlation alone: in a run of several ranks the launch of
// one rank points to the kernels of another. Without --compat the file belongs to the key.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "accel/passes/helpers.h"

namespace debrief::accel {

using LaunchKey = std::pair<uint32_t, int64_t>;  // file (0 with --compat), correlation

struct Launch {
  std::optional<Event> flow_start;  // the `s` that the trace has
  std::optional<Event> waiter;      // the call that waits for all kernels
  std::optional<Event> last_kernel;
};

struct LaunchFlows {
  std::map<LaunchKey, Launch> launches;
  // Ends of flows that the trace has: pid, tid, correlation, time.
  std::set<std::tuple<int64_t, int64_t, int64_t, double>> known_ends;
  int64_t largest_id = 0;
  size_t late_kernels = 0;
};

// Kernels of flows are those of category "kernel" with a correlation.
std::optional<LaunchKey> KernelOfLaunch(const Event& event, const Run& run);
std::optional<LaunchKey> LaunchOf(const Event& event, StringId key, ArgPlace place, const Run& run);

// A flow ends a little before its slice does: one that ends with it is not drawn.
inline constexpr double kInside = 0.001;

}  // namespace debrief::accel
