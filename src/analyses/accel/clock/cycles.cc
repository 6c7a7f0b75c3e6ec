#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "analyses/accel/clock/clock.h"
#include "base/stats/intervals.h"
#include "model/accel/dialect.h"
#include "tables/accel_rate.h"
#include "tables/accel_stamp.h"

namespace debrief::analyses::accel_clock {

namespace {

using timeline::TimelineView;

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

}  // namespace

std::vector<Cycles> CyclesOf(const TimelineView& view) {
  const auto& rates = view.model.tables.Get<AccelRateTable>();
  const auto& stamps = view.model.tables.Get<AccelStampTable>();
  timeline::RowRange rows = timeline::RowsOf(rates, view.who.input);
  std::vector<Cycles> found;
  std::map<int32_t, size_t> place_of;  // by device
  for (size_t row = rows.begin; row < rows.end; ++row) {
    place_of[rates.device[row]] = found.size();
    found.push_back(
        {.device = rates.device[row], .mhz = rates.mhz[row], .gapped = IsGapped(rates, row)});
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

}  // namespace debrief::analyses::accel_clock
