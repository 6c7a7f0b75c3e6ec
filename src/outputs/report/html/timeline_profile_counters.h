// The counters of a profile: those of the file, and memory by device.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/timeline/view.h"
#include "outputs/report/html/timeline_island.h"

namespace debrief::outputs::html {

// The series of each counter, by row of its track. `zero`: the time that is 0 in the page.
using TrackCounters = std::map<size_t, std::vector<CounterSeries>>;
TrackCounters CountersOf(const timeline::TimelineView& view, int64_t zero);

// Bytes allocated and reserved.
struct DeviceMemory {
  std::string name;  // "memory of GPU 0"
  std::vector<CounterSeries> series;
};
std::vector<DeviceMemory> MemoryOf(const timeline::TimelineView& view, int64_t zero);

}  // namespace debrief::outputs::html
