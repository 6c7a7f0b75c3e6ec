// How work comes to devices: which call of the host put it there, and which calls launched graphs
// whose kernels the timeline does not show.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::timeline {

// Of all work of a timeline at once.
struct LaunchLinks {
  std::vector<int32_t> launch;  // by slice: the call; kNone32 when none is shown
  std::vector<int32_t> op;      // by slice: the innermost op around that call; kNone32 when none
};

// Of table timeline_launch.
LaunchLinks LaunchLinksOf(const TimelineView& view);

// One call and the work that it put on one stream. Times in nanoseconds.
struct Launch {
  int32_t call = kNone32;
  int32_t device = kNone32;
  int64_t stream = kNone64;
  int64_t call_start = 0, call_end = 0;
  int64_t work_start = 0;  // of the first piece
  int64_t work_time = 0;   // of all pieces
};

// A graph runs many kernels for one call of the host. Profilers show them as kernels on streams
// with the correlation of the call; some show nothing at all, and the time in which such a graph
// ran looks idle without being so.
//
// When such launches were issued, sorted. A launch whose kernels are there and carry another
// correlation is none of them: what no call of the host explains and begins behind it is taken for
// them.
std::vector<int64_t> UnseenGraphLaunches(const TimelineView& view,
                                         std::span<const DeviceWork> works);

// Whether one of `launches` was issued in [begin, end).
bool AnyWithin(std::span<const int64_t> launches, int64_t begin, int64_t end);

}  // namespace debrief::timeline
