// Which ops and modules take the time, on the host and on devices?
//
// Cost: a pass over the slices for each of three groupings, and one over the work of devices with
// the ops around it. Work that no op launched is in none of these tables.
#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "model/timeline/view.h"
#include "tables/profile_module.h"
#include "tables/profile_op.h"
#include "tables/profile_op_shape.h"
#include "tables/profile_roofline.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"

namespace debrief::analyses::profile_ops {

namespace {

using timeline::TimelineView;

// The groups into which slices of the host are put: by name, by shapes, by module.
struct Grouping {
  std::vector<int32_t> group;  // by slice; kNone32 for those in none
  size_t groups = 0;           // numbered in the order of their first slices
};

// Host and device time of groups of slices that may be inside of one another.
//
//   aten::linear [ aten::addmm [ cudaLaunchKernel ] ]   group of a slice: its name, its module, ...
//   device                        [ kernel ]            counts for addmm and for linear
//
// Slices that are in no group are looked through. Time on the host is added up exactly: of slices
// inside of each other that are in one group only the outermost counts for its total, and own time
// is a slice's time less that of the members inside of it. Time on a device is the union of what
// ran there. Cost: one pass over the slices, and work times the depth of members around it.

struct GroupTimes {
  int64_t count = 0;
  int64_t host_total = 0, host_self = 0;
  int64_t device_total = 0, device_self = 0;
  int64_t works = 0;
  int32_t first = kNone32;  // its first slice
};

// Something that ran on a device and the slice of the host that it came from.
struct Launched {
  int32_t device = 0;
  int64_t start = 0, end = 0;
  int32_t host = kNone32;
};

// Union of what ran for one group, fed in order of start.
struct Covered {
  int64_t end = kNone64;
  int64_t Add(int64_t from, int64_t to) {
    const int64_t added = std::max<int64_t>(0, to - std::max(from, end));
    end = std::max(end, to);
    return added;
  }
};

class NestedGroups {
 public:
  // `works` by device and start.
  NestedGroups(const TimelineView& view, Grouping grouping, std::span<const Launched> works)
      : view_(view),
        group_(std::move(grouping.group)),
        times_(grouping.groups),
        around_(view.slices.size(), kNone32),
        covered_end_(view.slices.size(), kNone64),
        open_count_(grouping.groups, 0) {
    AddHostTime();
    AddDeviceTime(works);
  }

  const std::vector<GroupTimes>& times() const { return times_; }

  // The innermost member around a slice without the slice itself; kNone32 when none.
  int32_t Around(int32_t member) const { return around_[TimelineView::At(member)]; }

 private:
  // A slice stands before those inside of it, so the members around one are always known.
  void AddHostTime() {
    std::vector<int32_t> open;  // members around the slice, outermost first
    for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
      const size_t at = TimelineView::At(slice);
      const int32_t parent = view_.parent[at];
      if (parent != kNone32) {
        const bool is_member = group_[TimelineView::At(parent)] != kNone32;
        around_[at] = is_member ? parent : around_[TimelineView::At(parent)];
      }
      if (group_[at] == kNone32) continue;
      while (!open.empty() && open.back() != around_[at]) Leave(open);
      Enter(slice, open);
    }
    while (!open.empty()) Leave(open);
  }

  void AddDeviceTime(std::span<const Launched> works) {
    std::vector<Covered> total(times_.size()), self(times_.size());
    std::vector<size_t> counted(times_.size(),
                                0);  // by group: the last work that it counted, plus 1
    for (size_t i = 0; i < works.size(); ++i) {
      const Launched& work = works[i];
      if (i > 0 && works[i - 1].device != work.device) {
        std::fill(total.begin(), total.end(), Covered{});
        std::fill(self.begin(), self.end(), Covered{});
      }
      if (work.host == kNone32) continue;
      const bool is_member = group_[TimelineView::At(work.host)] != kNone32;
      int32_t member = is_member ? work.host : Around(work.host);
      for (bool innermost = true; member != kNone32; member = Around(member), innermost = false) {
        const auto group = static_cast<size_t>(group_[TimelineView::At(member)]);
        GroupTimes& times = times_[group];
        if (innermost) times.device_self += self[group].Add(work.start, work.end);
        if (counted[group] == i + 1) continue;
        counted[group] = i + 1;
        ++times.works;
        times.device_total += total[group].Add(work.start, work.end);
      }
    }
  }

  void Enter(int32_t slice, std::vector<int32_t>& open) {
    const size_t at = TimelineView::At(slice);
    const auto group = static_cast<size_t>(group_[at]);
    GroupTimes& times = times_[group];
    if (times.count++ == 0) times.first = slice;
    if (open_count_[group]++ == 0) times.host_total += view_.duration[at];
    times.host_self += view_.duration[at];
    if (around_[at] != kNone32) {
      const size_t outer = TimelineView::At(around_[at]);
      Covered covered{covered_end_[outer]};
      times_[static_cast<size_t>(group_[outer])].host_self -=
          covered.Add(view_.start[at], view_.end(slice));
      covered_end_[outer] = covered.end;
    }
    open.push_back(slice);
  }

  void Leave(std::vector<int32_t>& open) {
    --open_count_[static_cast<size_t>(group_[TimelineView::At(open.back())])];
    open.pop_back();
  }

  const TimelineView& view_;
  std::vector<int32_t> group_;
  std::vector<GroupTimes> times_;
  std::vector<int32_t> around_;       // by slice
  std::vector<int64_t> covered_end_;  // by slice: until where members inside are counted already
  std::vector<int32_t> open_count_;   // by group: members of it that are open
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

// How much of the roof of the device the ops of one timeline reach, by name, and by name and
// shapes.
class RoofShares {
 public:
  explicit RoofShares(const TimelineView& view) {
    const auto& rows = view.model.tables.Get<ProfileRooflineTable>();
    const timeline::RowRange own = timeline::RowsOf(rows, view.who.input);
    for (size_t row = own.begin; row < own.end; ++row) {
      const bool is_own = view.model.pools.Text(rows.definition[row]) == "debrief";
      if (!is_own || rows.roof_ns[row] == kNone64) continue;
      const Key key{rows.op[row], rows.shapes[row], rows.dtypes[row]};
      for (const Key& each : {key, Key{rows.op[row], StringId::kNone, StringId::kNone}}) {
        auto& [roof, busy] = times_[each];
        roof += static_cast<double>(rows.roof_ns[row]) * static_cast<double>(rows.count[row]);
        busy += static_cast<double>(rows.busy_ns[row]);
      }
    }
  }

  double Of(StringId op, StringId shapes = StringId::kNone,
            StringId dtypes = StringId::kNone) const {
    const auto found = times_.find({op, shapes, dtypes});
    return found == times_.end() || found->second.second <= 0
               ? kNoDouble
               : found->second.first / found->second.second;
  }

 private:
  using Key = std::tuple<StringId, StringId, StringId>;
  std::map<Key, std::pair<double, double>> times_;
};

void AddOps(const TimelineView& view, const std::vector<Launched>& works, const RoofShares& roofs,
            Part& part) {
  const NestedGroups groups(view, ByName(view), works);
  for (const GroupTimes& times : groups.times()) {
    auto row = RowOf<ProfileOpRow>(view, times);
    row.name = part.pools.Intern(view.NameOf(times.first));
    row.roof_share = roofs.Of(view.name[TimelineView::At(times.first)]);
    part.tables.Edit<ProfileOpTable>().Add(row);
  }
}

void AddShapes(const TimelineView& view, const std::vector<Launched>& works,
               const RoofShares& roofs, Part& part) {
  const auto& ops = view.model.tables.Get<TimelineOpTable>();
  const NestedGroups groups(view, ByShape(view), works);
  for (const GroupTimes& times : groups.times()) {
    auto row = RowOf<ProfileOpShapeRow>(view, times);
    row.name = part.pools.Intern(view.NameOf(times.first));
    if (auto op = view.OpRow(times.first)) {
      row.shapes = timeline::Copied(view.model, ops.shapes[*op], part);
      row.dtypes = timeline::Copied(view.model, ops.dtypes[*op], part);
      row.roof_share =
          roofs.Of(view.name[TimelineView::At(times.first)], ops.shapes[*op], ops.dtypes[*op]);
    }
    part.tables.Edit<ProfileOpShapeTable>().Add(row);
  }
}

void AddModules(const TimelineView& view, const std::vector<Launched>& works, Part& part) {
  const NestedGroups groups(view, ByModule(view), works);
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
    const RoofShares roofs(view);
    AddOps(view, works.by_op, roofs, result.part);
    AddShapes(view, works.by_op, roofs, result.part);
    AddModules(view, works.by_module, result.part);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_ops",
               .scope = AnalysisScope::kRank,
               .sentence = "Which ops and modules take the time, on the host and on devices?",
               .example = "(makes tables only)",
               .needs = kTableNames<TimelineSliceTable>,
               .makes = kTableNames<ProfileOpTable, ProfileOpShapeTable, ProfileModuleTable>,
               .uses =
                   kTableNames<timeline::ViewTables, TimelineLaunchTable, ProfileRooflineTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_ops
