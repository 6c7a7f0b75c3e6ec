// Launches of CUDA and HIP graphs whose kernels a timeline does not show.
//
// A graph runs many kernels for one call of the host. Profilers show them as kernels on streams
// with the correlation of the call; some show nothing at all, and the time in which such a graph
// ran looks idle without being so.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::timeline {

// When such launches were issued, sorted. A launch whose kernels are there and carry another
// correlation is none of them: what no call of the host explains and begins behind it is taken for
// them.
std::vector<int64_t> UnseenGraphLaunches(const TimelineView& view,
                                         std::span<const DeviceWork> works);

// Whether one of `launches` was issued in [begin, end).
bool AnyWithin(std::span<const int64_t> launches, int64_t begin, int64_t end);

}  // namespace debrief::timeline
