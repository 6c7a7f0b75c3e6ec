#include "analyses/profile/overlap/overlap.h"

#include <algorithm>

#include "analyses/profile/overlap/sweep.h"
#include "model/timeline/step_windows.h"
#include "tables/profile_overlap.h"
#include "tables/timeline.h"

namespace debrief::analyses::profile_overlap {

namespace {

using timeline::DeviceWork;
using timeline::TimelineView;

ProfileOverlapRow NewRow(const TimelineView& view, std::string_view definition,
                         std::string_view scope, Part& part) {
  auto row = Part::RowOf<ProfileOverlapRow>(view.who);
  row.input = view.who.input;
  row.definition = part.pools.Intern(definition);
  row.scope = part.pools.Intern(scope);
  return row;
}

double OverlapPercent(int64_t overlap, int64_t communication) {
  if (communication <= 0) return kNoDouble;
  return 100 * static_cast<double>(overlap) / static_cast<double>(communication);
}

void Add(const timeline::ClassTimes& times, Interval window, ProfileOverlapRow row, Part& part) {
  timeline::TimeSplit split = SplitTime(times, window);
  row.window_start_ns = window.begin;
  row.window_end_ns = window.end;
  row.computation_ns = split.compute;
  row.communication_ns = split.communication;
  row.overlap_ns = split.overlap;
  row.overlap_pct = OverlapPercent(split.overlap, split.communication);
  part.tables.Edit<ProfileOverlapTable>().Add(row);
}

void AddDevice(const TimelineView& view, const timeline::DeviceWorks& all, int32_t device,
               Part& part) {
  std::vector<DeviceWork> works;
  std::copy_if(all.works.begin(), all.works.end(), std::back_inserter(works),
               [&](const DeviceWork& work) { return work.device == device; });
  auto row = NewRow(view, "debrief", "device", part);
  row.device = device;
  Add(ClassTimesOf(works), SpanOf(works), row, part);
}

}  // namespace

void AddOverlap(const TimelineView& view, const timeline::DeviceWorks& works, Part& part) {
  if (works.works.empty()) return;
  std::vector<int32_t> devices = works.Devices();
  int32_t device = devices.size() == 1 ? devices.front() : kNone32;
  timeline::ClassTimes times = ClassTimesOf(works.works);
  auto row = NewRow(view, "debrief", "all", part);
  row.device = device;
  Add(times, SpanOf(works.works), row, part);
  if (devices.size() > 1) {
    for (int32_t each : devices) AddDevice(view, works, each, part);
  }
  for (const timeline::StepWindow& window : StepWindowsOf(view)) {
    auto step = NewRow(view, "debrief", "step", part);
    step.device = device;
    step.step = window.step;
    Add(times, window.time, step, part);
  }
}

void AddHtaOverlap(const TimelineView& view, const timeline::HtaRows& rows, Part& part) {
  if (rows.rows.empty()) return;
  constexpr int64_t kMicrosecond = 1000;
  int64_t base = view.model.tables.Get<TimelineTable>().base_ns[view.row];
  if (base == kNone64) base = 0;
  std::vector<Interval> compute = HtaMerged(rows, timeline::HtaType::kComputation);
  std::vector<Interval> communication = HtaMerged(rows, timeline::HtaType::kCommunication);
  int64_t last_end = rows.rows.front().time.end;
  for (const timeline::HtaRow& each : rows.rows) last_end = std::max(last_end, each.time.end);
  auto row = NewRow(view, "hta", "all", part);
  row.window_start_ns = rows.rows.front().time.begin * kMicrosecond + base;
  row.window_end_ns = last_end * kMicrosecond + base;
  row.computation_ns = Length(compute) * kMicrosecond;
  row.communication_ns = Length(communication) * kMicrosecond;
  row.overlap_ns = TimeOfSets({compute, communication})[3] * kMicrosecond;
  row.overlap_pct =
      timeline::RoundedAsPandas(OverlapPercent(row.overlap_ns, row.communication_ns), 2);
  part.tables.Edit<ProfileOverlapTable>().Add(row);
}

}  // namespace debrief::analyses::profile_overlap
