#include "outputs/report/html/timeline_profile_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "outputs/report/html/timeline_maker.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_memory.h"

namespace debrief::outputs::html {

namespace {

using timeline::TimelineView;

void AddPoint(int64_t zero, int64_t time_ns, double value, CounterSeries& series) {
  Slice at;
  if (std::isfinite(value) && SetTimes(zero, time_ns, 0, at))
    series.points.push_back({at.start, value});
}

double OrNone(int64_t bytes) { return bytes == kNone64 ? kNoDouble : static_cast<double>(bytes); }

std::string DeviceName(int32_t type, int32_t device) {
  if (type == 0) return "memory of the host";
  if (type == 1) return fmt::format("memory of GPU {}", device);
  return fmt::format("memory of device {} (type {})", device, type);
}

}  // namespace

TrackCounters CountersOf(const TimelineView& view, int64_t zero) {
  const auto& table = view.model.tables.Get<TimelineCounterTable>();
  TrackCounters counters;
  std::map<std::pair<size_t, StringId>, size_t> place;  // of a series in its track
  for (size_t row = view.counters.begin; row < view.counters.end; ++row) {
    const size_t track = view.tracks.begin + static_cast<size_t>(table.track[row]);
    std::vector<CounterSeries>& series = counters[track];
    const auto [at, is_new] = place.try_emplace({track, table.series[row]}, series.size());
    if (is_new) {
      const std::string_view name = CutText(view.model.pools.Text(table.series[row]));
      series.push_back({.name = std::string(name), .unit = "", .points = {}});
    }
    AddPoint(zero, table.time_ns[row], table.number[row], series[at->second]);
  }
  return counters;
}

std::vector<DeviceMemory> MemoryOf(const TimelineView& view, int64_t zero) {
  const auto& table = view.model.tables.Get<TimelineMemoryTable>();
  std::map<std::pair<int32_t, int32_t>, DeviceMemory> devices;
  for (size_t row = view.memory.begin; row < view.memory.end; ++row) {
    const std::pair key(table.device_type[row], table.device[row]);
    DeviceMemory& memory = devices[key];
    if (memory.series.empty()) {
      memory.name = DeviceName(key.first, key.second);
      memory.series = {{"allocated", "bytes", {}}, {"reserved", "bytes", {}}};
    }
    AddPoint(zero, table.time_ns[row], OrNone(table.allocated_bytes[row]), memory.series[0]);
    AddPoint(zero, table.time_ns[row], OrNone(table.reserved_bytes[row]), memory.series[1]);
  }
  std::vector<DeviceMemory> all;
  for (auto& [key, memory] : devices) all.push_back(std::move(memory));
  return all;
}

}  // namespace debrief::outputs::html
