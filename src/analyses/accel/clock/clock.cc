// Can the clocks of the devices be trusted?
//
// Causality tells of devices whose work is launched and waited for by calls of the host, cycles of
// those that stamp their work with a counter.
#include "analyses/accel/clock/clock.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "analyses/accel/devices.h"
#include "analyses/analysis.h"
#include "base/stats/intervals.h"
#include "model/accel/dialect.h"
#include "model/timeline/device_time.h"
#include "model/timeline/launches.h"
#include "model/timeline/view.h"
#include "tables/accel_clock.h"
#include "tables/accel_cycles.h"
#include "tables/accel_rate.h"
#include "tables/accel_stamp.h"
#include "tables/timeline.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"

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

std::string_view StateOf(const Causality& found) {
  if (found.lower_ns == kNone64 && found.upper_ns == kNone64) return "unknown";
  if (found.early == 0 && found.late == 0) return "agrees";
  bool is_room = found.lower_ns == kNone64 || found.upper_ns == kNone64 ||
                 found.lower_ns <= found.upper_ns + 2 * kToleranceNs;
  return is_room ? "shift" : "drift";
}

// One for each device that has work, in order of device.
std::vector<Causality> CausalityOf(const TimelineView& view, const timeline::DeviceWorks& works) {
  std::vector<Causality> found;
  for (int32_t device : works.Devices()) {
    Causality& causality = found.emplace_back(Part::RowOf<Causality>(view.who));
    causality.device = device;
    causality.launches = causality.early = causality.waits = causality.late = 0;
  }
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

// Short events are rounded by more than a tenth; this much is nothing that anyone would see.
constexpr int64_t kVisibleNs = 2000;
// The host sees the device a few microseconds late, and so do the calls that wait for it.
constexpr int64_t kLatencyNs = 10'000;
// Clocks differ by parts in a million, not by parts in a hundred.
constexpr double kGap = 0.01;
constexpr double kExactSpreadPct = 1;
// Ends that lie a hundredth of the file away from where the counter puts them are no latency.
constexpr int64_t kSpanOverResidual = 100;
constexpr int64_t kFewestEvents = 8;

int32_t DeviceOf(const TimelineView& view, int32_t slice) {
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  return tracks.device[view.tracks.begin + TimelineView::At(view.track[TimelineView::At(slice)])];
}

// By process, the span of the calls in which the host waits for the device.
std::map<int32_t, Interval> Roundtrips(const TimelineView& view) {
  std::map<int32_t, Interval> spans;
  StringId name = view.model.pools.strings.Find("AIU Roundtrip");
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    size_t at = TimelineView::At(slice);
    if (view.name[at] != name || name == StringId::kNone) continue;
    int32_t process = tracks.process[view.tracks.begin + TimelineView::At(view.track[at])];
    Interval span = {view.start[at], view.end(slice)};
    auto [found, is_new] = spans.try_emplace(process, span);
    if (is_new) continue;
    found->second.begin = std::min(found->second.begin, span.begin);
    found->second.end = std::max(found->second.end, span.end);
  }
  return spans;
}

class Checker {
 public:
  explicit Checker(const TimelineView& view)
      : view_(view),
        stamps_(view.model.tables.Get<AccelStampTable>()),
        tracks_(view.model.tables.Get<TimelineTrackTable>()),
        roundtrips_(Roundtrips(view)) {}

  void Check(size_t row, Cycles& cycles) {
    ++cycles.events;
    int32_t slice = stamps_.slice[row];
    int64_t by_counter = view_.duration[TimelineView::At(slice)];
    int64_t by_host = stamps_.host_duration_ns[row];
    int64_t apart = by_host == kNone64 ? 0 : std::abs(by_host - by_counter);
    if (apart > kVisibleNs && apart > by_counter / 10) ++cycles.stretched;
    CheckShift(slice, cycles);
    if (accel::PhaseByWord(view_.NameOf(slice)) == accel::Phase::kExec)
      kernels_[cycles.device].push_back({view_.end(slice), stamps_.ts3[row], stamps_.ts4[row]});
  }

  // Kernels in order of their ends, as the host told them.
  int64_t Misaligned(int32_t device) {
    std::vector<Kernel>& kernels = kernels_[device];
    std::sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) {
      return std::pair(a.end_ns, a.begin) < std::pair(b.end_ns, b.begin);
    });
    int64_t count = 0;
    for (size_t i = 1; i < kernels.size(); ++i) {
      const Kernel& last = kernels[i - 1];
      bool is_repeated = kernels[i].begin == last.begin && kernels[i].end == last.end;
      if (!is_repeated && kernels[i].begin < last.end) ++count;
    }
    return count;
  }

 private:
  struct Kernel {
    int64_t end_ns;
    int64_t begin, end;  // cycles
  };

  void CheckShift(int32_t slice, Cycles& cycles) {
    size_t track = view_.tracks.begin + TimelineView::At(view_.track[TimelineView::At(slice)]);
    auto found = roundtrips_.find(tracks_.process[track]);
    if (found == roundtrips_.end()) return;
    int64_t before = found->second.begin - view_.start[TimelineView::At(slice)];
    int64_t behind = view_.end(slice) - found->second.end;
    if (before <= kLatencyNs && behind <= kLatencyNs) return;
    ++cycles.shifted;
    int64_t shift = before > kLatencyNs ? before : -behind;
    if (cycles.shift_ns == kNone64 || std::abs(shift) > std::abs(cycles.shift_ns))
      cycles.shift_ns = shift;
  }

  const TimelineView& view_;
  const AccelStampTable& stamps_;
  const TimelineTrackTable& tracks_;
  std::map<int32_t, Interval> roundtrips_;
  std::map<int32_t, std::vector<Kernel>> kernels_;  // by device
};

bool IsGapped(const AccelRateTable& rates, size_t row) {
  bool exact = rates.duration_spread_pct[row] <= kExactSpreadPct;
  bool is_line = std::abs(rates.host_mhz[row] / rates.duration_mhz[row] - 1) <= kGap &&
                 rates.residual_ns[row] <= rates.span_ns[row] / kSpanOverResidual;
  return exact && rates.events[row] >= kFewestEvents && !std::isnan(rates.host_mhz[row]) &&
         !is_line;
}

// One for each row of accel_rate of the timeline.
std::vector<Cycles> CyclesOf(const TimelineView& view) {
  const auto& rates = view.model.tables.Get<AccelRateTable>();
  const auto& stamps = view.model.tables.Get<AccelStampTable>();
  timeline::RowRange rows = timeline::RowsOf(rates, view.who.input);
  std::vector<Cycles> found;
  std::map<int32_t, size_t> place_of;  // by device
  for (size_t row = rows.begin; row < rows.end; ++row) {
    place_of[rates.device[row]] = found.size();
    Cycles& cycles = found.emplace_back(
        Part::RowOf<Cycles>(accel::OwnerOf(view, rates.device[row], rows.size())));
    cycles.device = rates.device[row];
    cycles.mhz = rates.mhz[row];
    cycles.gapped = IsGapped(rates, row);
    cycles.events = cycles.stretched = cycles.shifted = 0;
  }
  Checker checker(view);
  timeline::RowRange stamped = timeline::RowsOf(stamps, view.who.input);
  for (size_t row = stamped.begin; row < stamped.end; ++row) {
    auto place = place_of.find(DeviceOf(view, stamps.slice[row]));
    if (place != place_of.end()) checker.Check(row, found[place->second]);
  }
  for (Cycles& cycles : found) cycles.misaligned = checker.Misaligned(cycles.device);
  return found;
}

template <typename Table, typename Row>
void Add(Row& row, Part& part) {
  auto& table = part.tables.Edit<Table>();
  row.number = static_cast<int64_t>(table.size());
  table.Add(row);
}

Status Run(const Model& model, AnalysisResult& result) {
  timeline::DeviceClasses classes(model);
  std::vector<Causality> causalities;
  std::vector<Cycles> all_cycles;
  for (const TimelineView& view : timeline::Timelines(model)) {
    for (Causality& each : CausalityOf(view, DeviceWorksOf(view, classes))) {
      each.state = result.part.pools.Intern(StateOf(each));
      Add<AccelClockTable>(each, result.part);
      causalities.push_back(each);
    }
    for (Cycles& each : CyclesOf(view)) {
      Add<AccelCyclesTable>(each, result.part);
      all_cycles.push_back(each);
    }
  }
  AddCausalityFindings(causalities, result.findings);
  AddCycleFindings(all_cycles, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "accel_clock",
               .sentence = "Can the clocks of the devices be trusted?",
               .example =
                   "The cycle counter of the AIU runs at 557.08 MHz; tools that are not told "
                   "assume 1000 MHz",
               .needs = kTableNames<TimelineTable, TimelineSliceTable>,
               .makes = kTableNames<AccelClockTable, AccelCyclesTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineLaunchTable, AccelRateTable,
                                   AccelStampTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::accel_clock
