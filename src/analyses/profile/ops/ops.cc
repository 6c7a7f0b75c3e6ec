// Which ops and modules take the time, on the host and on devices?
//
// Cost: a pass over the slices for each of three groupings, and one over the work of devices with
// the ops around it. Work that no op launched is in none of these tables.
#include <algorithm>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/profile/ops/groupings.h"
#include "analyses/profile/ops/nested_groups.h"
#include "tables/profile_module.h"
#include "tables/profile_op.h"
#include "tables/profile_op_shape.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"

namespace debrief::analyses::profile_ops {

namespace {

using timeline::TimelineView;

constexpr auto kNeeds = kTableNames<TimelineSliceTable>;
constexpr auto kUses = kTableNames<TimelineLaunchTable>;
constexpr auto kMakes = kTableNames<ProfileOpTable, ProfileOpShapeTable, ProfileModuleTable>;

// Work of devices, by device and start; the host's side is the innermost op or the module.
struct DeviceWork {
  std::vector<Launched> by_op, by_module;
};

DeviceWork DeviceWorkOf(const TimelineView& view) {
  const auto& launches = view.model.tables.Get<TimelineLaunchTable>();
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  const timeline::RowRange rows = timeline::RowsOf(launches, view.who.input);
  DeviceWork works;
  for (size_t row = rows.begin; row < rows.end; ++row) {
    const int32_t slice = launches.slice[row];
    const size_t at = TimelineView::At(slice);
    Launched work = {.device = tracks.device[view.tracks.begin + TimelineView::At(view.track[at])],
                     .start = view.start[at],
                     .end = view.end(slice),
                     .host = launches.op[row]};
    works.by_op.push_back(work);
    if (launches.module[row] != kNone32) work.host = launches.module[row];
    works.by_module.push_back(work);
  }
  for (auto* list : {&works.by_op, &works.by_module}) {
    std::stable_sort(list->begin(), list->end(), [](const Launched& a, const Launched& b) {
      return std::tuple(a.device, a.start) < std::tuple(b.device, b.start);
    });
  }
  return works;
}

template <typename Row>
Row RowOf(const TimelineView& view, const GroupTimes& times) {
  auto row = Part::RowOf<Row>(view.who);
  row.input = view.who.input;
  row.count = times.count;
  row.host_total_ns = times.host_total;
  row.host_self_ns = times.host_self;
  row.device_total_ns = times.device_total;
  row.device_self_ns = times.device_self;
  row.works = times.works;
  return row;
}

StringId Copy(const TimelineView& view, StringId id, Part& part) {
  return id == StringId::kNone ? id : part.pools.Intern(view.model.pools.Text(id));
}

void AddOps(const TimelineView& view, const std::vector<Launched>& works, Part& part) {
  const Grouping grouping = ByName(view);
  NestedGroups groups(view, grouping.group, grouping.groups);
  groups.AddDeviceTime(works);
  for (const GroupTimes& times : groups.times()) {
    auto row = RowOf<ProfileOpRow>(view, times);
    row.name = part.pools.Intern(view.NameOf(times.first));
    part.tables.Edit<ProfileOpTable>().Add(row);
  }
}

void AddShapes(const TimelineView& view, const std::vector<Launched>& works, Part& part) {
  const auto& ops = view.model.tables.Get<TimelineOpTable>();
  const Grouping grouping = ByShape(view);
  NestedGroups groups(view, grouping.group, grouping.groups);
  groups.AddDeviceTime(works);
  for (const GroupTimes& times : groups.times()) {
    auto row = RowOf<ProfileOpShapeRow>(view, times);
    row.name = part.pools.Intern(view.NameOf(times.first));
    if (auto op = view.OpRow(times.first)) {
      row.shapes = Copy(view, ops.shapes[*op], part);
      row.dtypes = Copy(view, ops.dtypes[*op], part);
    }
    part.tables.Edit<ProfileOpShapeTable>().Add(row);
  }
}

void AddModules(const TimelineView& view, const std::vector<Launched>& works, Part& part) {
  const Grouping grouping = ByModule(view);
  NestedGroups groups(view, grouping.group, grouping.groups);
  groups.AddDeviceTime(works);
  for (const GroupTimes& times : groups.times()) {
    auto row = RowOf<ProfileModuleRow>(view, times);
    row.name = part.pools.Intern(ModuleOf(view, times.first));
    const int32_t around = groups.Around(times.first);
    if (around != kNone32) row.parent = part.pools.Intern(ModuleOf(view, around));
    row.depth = 0;
    for (int32_t outer = around; outer != kNone32; outer = groups.Around(outer)) ++row.depth;
    part.tables.Edit<ProfileModuleTable>().Add(row);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  for (const TimelineView& view : timeline::Timelines(model)) {
    const DeviceWork works = DeviceWorkOf(view);
    AddOps(view, works.by_op, result.part);
    AddShapes(view, works.by_op, result.part);
    AddModules(view, works.by_module, result.part);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_ops",
               .sentence = "Which ops and modules take the time, on the host and on devices?",
               .example = "(makes tables only)",
               .needs = kNeeds,
               .makes = kMakes,
               .uses = kUses},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_ops
