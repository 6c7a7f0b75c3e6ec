// Does communication hide behind computation, and what runs beside what?
#include <algorithm>
#include <array>

#include "analyses/analysis.h"
#include "compat/hta/tables.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"
#include "tables/profile_kernel_types.h"
#include "tables/profile_overlap.h"
#include "tables/timeline.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_overlap {

namespace {

using timeline::DeviceWork;
using timeline::TimelineView;

ProfileOverlapRow NewRow(const TimelineView& view, std::string_view scope, Part& part) {
  auto row = view.NewRow<ProfileOverlapRow>();
  row.definition = part.pools.Intern("debrief");
  row.scope = part.pools.Intern(scope);
  return row;
}

void Add(const timeline::ClassTimes& times, Interval window, ProfileOverlapRow row, Part& part) {
  timeline::TimeSplit split = SplitTime(times, window);
  row.window_start_ns = window.begin;
  row.window_end_ns = window.end;
  row.computation_ns = split.compute;
  row.communication_ns = split.communication;
  row.overlap_ns = split.overlap;
  if (split.communication > 0)
    row.overlap_pct =
        100 * static_cast<double>(split.overlap) / static_cast<double>(split.communication);
  part.tables.Edit<ProfileOverlapTable>().Add(row);
}

void AddDevice(const TimelineView& view, const timeline::DeviceWorks& all, int32_t device,
               Part& part) {
  std::vector<DeviceWork> works;
  std::copy_if(all.works.begin(), all.works.end(), std::back_inserter(works),
               [&](const DeviceWork& work) { return work.device == device; });
  auto row = NewRow(view, "device", part);
  row.device = device;
  Add(ClassTimesOf(works), SpanOf(works), row, part);
}

void AddOverlap(const TimelineView& view, const timeline::DeviceWorks& works, Part& part) {
  if (works.works.empty()) return;
  std::vector<int32_t> devices = works.Devices();
  int32_t device = devices.size() == 1 ? devices.front() : kNone32;
  timeline::ClassTimes times = ClassTimesOf(works.works);
  auto row = NewRow(view, "all", part);
  row.device = device;
  Add(times, SpanOf(works.works), row, part);
  if (devices.size() > 1) {
    for (int32_t each : devices) AddDevice(view, works, each, part);
  }
  for (const timeline::StepWindow& window : StepWindowsOf(view)) {
    auto step = NewRow(view, "step", part);
    step.device = device;
    step.step = window.step;
    Add(times, window.time, step, part);
  }
}

void AddKernelTypes(const TimelineView& view, const timeline::DeviceWorks& works, Part& part) {
  static constexpr std::array<std::string_view, 3> kTypes = {"compute", "communication", "memory"};
  timeline::ClassTimes times = ClassTimesOf(works.works);
  const auto sets = timeline::TimeOfSets({times.compute, times.communication, times.memory});
  int64_t all = 0;
  for (const auto& [set, time] : sets) all += time;
  for (const auto& [name, time] : timeline::NamedSets(sets, kTypes)) {
    auto row = view.NewRow<ProfileKernelTypesRow>();
    row.definition = part.pools.Intern("debrief");
    row.kernel_type = part.pools.Intern(name);
    row.time_ns = time;
    row.share_pct = static_cast<double>(time) / static_cast<double>(all) * 100;
    part.tables.Edit<ProfileKernelTypesTable>().Add(row);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  timeline::DeviceClasses classes(model);
  hta::Names hta_names(model);
  for (const TimelineView& view : timeline::Timelines(model)) {
    timeline::DeviceWorks works = DeviceWorksOf(view, classes);
    AddOverlap(view, works, result.part);
    AddKernelTypes(view, works, result.part);
    hta::AddOverlap(view, hta_names, result.part);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_overlap",
               .scope = AnalysisScope::kRank,
               .sentence = "How far does communication hide behind computation?",
               .example = "47 % of the communication of rank 0 overlaps with computation",
               .needs = kTableNames<TimelineTable, TimelineSliceTable>,
               .makes = kTableNames<ProfileOverlapTable, ProfileKernelTypesTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineStepTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_overlap
