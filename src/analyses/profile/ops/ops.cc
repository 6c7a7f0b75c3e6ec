// Which ops and modules take the time, on the host and on devices?
//
// Cost: a pass over the slices for each of three groupings, and one over the work of devices with
// the ops around it. Work that no op launched is in none of these tables.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/profile/ops/nested_groups.h"
#include "model/timeline/view.h"
#include "tables/profile_module.h"
#include "tables/profile_op.h"
#include "tables/profile_op_shape.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"

namespace debrief::analyses::profile_ops {

namespace {

using timeline::TimelineView;

constexpr auto kNeeds = kTableNames<TimelineSliceTable>;
constexpr auto kUses = kTableNames<timeline::ViewTables, TimelineLaunchTable>;
constexpr auto kMakes = kTableNames<ProfileOpTable, ProfileOpShapeTable, ProfileModuleTable>;

// The groups into which slices of the host are put: by name, by shapes, by module.
struct Grouping {
  std::vector<int32_t> group;  // by slice; kNone32 for those in none
  size_t groups = 0;           // numbered in the order of their first slices
};

constexpr std::string_view kModulePrefix = "nn.Module: ";

struct Key {
  StringId name = StringId::kNone, shapes = StringId::kNone, dtypes = StringId::kNone;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    auto number = [](StringId id) { return static_cast<uint64_t>(id); };
    const uint64_t mixed = number(key.name) * 0x9e3779b97f4a7c15 + number(key.shapes);
    return static_cast<size_t>((mixed ^ (mixed >> 29)) * 0xc2b2ae3d27d4eb4f + number(key.dtypes));
  }
};

class Numbering {
 public:
  explicit Numbering(const TimelineView& view) {
    grouping_.group.assign(view.slices.size(), kNone32);
  }

  void Put(int32_t slice, const Key& key) {
    auto [at, is_new] = numbers_.try_emplace(key, static_cast<int32_t>(numbers_.size()));
    grouping_.group[TimelineView::At(slice)] = at->second;
  }

  Grouping Take() {
    grouping_.groups = numbers_.size();
    return std::move(grouping_);
  }

 private:
  Grouping grouping_;
  std::unordered_map<Key, int32_t, KeyHash> numbers_;
};

Grouping ByModuleOfOps(const TimelineView& view) {
  const auto& ops = view.model.tables.Get<TimelineOpTable>();
  Numbering numbering(view);
  for (size_t row = view.ops.begin; row < view.ops.end; ++row) {
    if (ops.module[row] != StringId::kNone)
      numbering.Put(ops.slice[row], {.name = ops.module[row]});
  }
  return numbering.Take();
}

Grouping ByName(const TimelineView& view) {
  Numbering numbering(view);
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    const size_t at = TimelineView::At(slice);
    if (view.kind[at] == view.kinds.op) numbering.Put(slice, {.name = view.name[at]});
  }
  return numbering.Take();
}

// Ops whose shapes or types were recorded.
Grouping ByShape(const TimelineView& view) {
  const auto& ops = view.model.tables.Get<TimelineOpTable>();
  Numbering numbering(view);
  for (size_t row = view.ops.begin; row < view.ops.end; ++row) {
    if (ops.shapes[row] == StringId::kNone && ops.dtypes[row] == StringId::kNone) continue;
    const int32_t slice = ops.slice[row];
    numbering.Put(slice, {view.name[TimelineView::At(slice)], ops.shapes[row], ops.dtypes[row]});
  }
  return numbering.Take();
}

// Calls named nn.Module: ...; where there are none, ops that name their module.
Grouping ByModule(const TimelineView& view) {
  Numbering numbering(view);
  std::unordered_map<StringId, bool> is_module;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    const size_t at = TimelineView::At(slice);
    const StringId kind = view.kind[at];
    if (kind != view.kinds.python && kind != view.kinds.annotation) continue;
    auto [found, is_new] = is_module.try_emplace(view.name[at], false);
    if (is_new) found->second = view.NameOf(slice).starts_with(kModulePrefix);
    if (found->second) numbering.Put(slice, {.name = view.name[at]});
  }
  Grouping calls = numbering.Take();
  return calls.groups > 0 ? std::move(calls) : ByModuleOfOps(view);
}

// The module that a slice of ByModule() stands for.
std::string_view ModuleOf(const TimelineView& view, int32_t slice) {
  const std::string_view name = view.NameOf(slice);
  if (name.starts_with(kModulePrefix)) return name.substr(kModulePrefix.size());
  const auto row = view.OpRow(slice);
  return row ? view.model.pools.Text(view.model.tables.Get<TimelineOpTable>().module[*row])
             : std::string_view();
}

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
  auto row = view.NewRow<Row>();
  row.count = times.count;
  row.host_total_ns = times.host_total;
  row.host_self_ns = times.host_self;
  row.device_total_ns = times.device_total;
  row.device_self_ns = times.device_self;
  row.works = times.works;
  return row;
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
      row.shapes = timeline::Copied(view.model, ops.shapes[*op], part);
      row.dtypes = timeline::Copied(view.model, ops.dtypes[*op], part);
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
