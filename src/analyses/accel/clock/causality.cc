#include <algorithm>
#include <unordered_map>

#include "analyses/accel/clock/clock.h"

namespace debrief::analyses::accel_clock {

namespace {

using timeline::DeviceWork;
using timeline::TimelineView;

// A call that returns when a device is done with all it was given before.
struct Wait {
  int64_t start_ns;
  int64_t end_ns;
};

bool WaitsForDevice(std::string_view call) {
  return call.ends_with("DeviceSynchronize") || call == "cuCtxSynchronize";
}
// Waits for the work that shares its correlation.
bool WaitsForOwnWork(std::string_view call) {
  return call.find("ScheduleWait") != std::string_view::npos;
}

struct Waits {
  std::vector<Wait> all;                         // by start
  std::unordered_map<int64_t, int64_t> own_end;  // by correlation
};

Waits WaitsOf(const TimelineView& view) {
  std::unordered_map<StringId, int> kind_of;  // 1: for all, 2: for its own
  Waits waits;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    size_t at = TimelineView::At(slice);
    if (view.kind[at] != view.kinds.runtime) continue;
    auto [kind, is_new] = kind_of.try_emplace(view.name[at], 0);
    if (is_new) {
      std::string_view name = view.NameOf(slice);
      kind->second = WaitsForDevice(name) ? 1 : WaitsForOwnWork(name) ? 2 : 0;
    }
    if (kind->second == 1) waits.all.push_back({view.start[at], view.end(slice)});
    if (kind->second == 2 && view.correlation[at] != kNone64)
      waits.own_end[view.correlation[at]] = view.end(slice);
  }
  std::sort(waits.all.begin(), waits.all.end(),
            [](const Wait& a, const Wait& b) { return a.start_ns < b.start_ns; });
  return waits;
}

void CountLaunch(int64_t launch_ns, const DeviceWork& work, Causality& causality) {
  ++causality.launches;
  int64_t early = launch_ns - work.time.begin;
  causality.lower_ns = causality.lower_ns == kNone64 ? early : std::max(causality.lower_ns, early);
  if (early <= kToleranceNs) return;
  ++causality.early;
  causality.worst_early_ns = std::max(causality.worst_early_ns, early);
}

void CountWait(int64_t return_ns, const DeviceWork& work, Causality& causality) {
  ++causality.waits;
  int64_t room = return_ns - work.time.end;
  causality.upper_ns = causality.upper_ns == kNone64 ? room : std::min(causality.upper_ns, room);
  if (room >= -kToleranceNs) return;
  ++causality.late;
  causality.worst_late_ns = std::max(causality.worst_late_ns, -room);
}

}  // namespace

std::string_view Causality::State() const {
  if (lower_ns == kNone64 && upper_ns == kNone64) return "unknown";
  if (early == 0 && late == 0) return "agrees";
  bool is_room =
      lower_ns == kNone64 || upper_ns == kNone64 || lower_ns <= upper_ns + 2 * kToleranceNs;
  return is_room ? "shift" : "drift";
}

std::vector<Causality> CausalityOf(const TimelineView& view, const timeline::DeviceWorks& works) {
  std::vector<Causality> found;
  for (int32_t device : works.Devices()) found.push_back({.device = device});
  timeline::LaunchLinks links = timeline::LaunchLinksOf(view);
  Waits waits = WaitsOf(view);
  // Which device a call waits for is told only where there is one.
  bool waits_tell = found.size() == 1;
  for (const DeviceWork& work : works.works) {
    Causality& causality = *std::lower_bound(
        found.begin(), found.end(), work.device,
        [](const Causality& each, int32_t device) { return each.device < device; });
    auto own = waits.own_end.find(view.correlation[TimelineView::At(work.slice)]);
    if (own != waits.own_end.end()) CountWait(own->second, work, causality);
    int32_t launch = links.launch[TimelineView::At(work.slice)];
    if (launch == kNone32) continue;
    CountLaunch(view.start[TimelineView::At(launch)], work, causality);
    // The first wait that begins behind the launch says most.
    auto wait =
        std::lower_bound(waits.all.begin(), waits.all.end(), view.end(launch),
                         [](const Wait& each, int64_t time) { return each.start_ns < time; });
    if (waits_tell && wait != waits.all.end()) CountWait(wait->end_ns, work, causality);
  }
  return found;
}

}  // namespace debrief::analyses::accel_clock
