#include "analyses/join/regions/regions.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "tables/timeline_launch.h"
#include "torch/compiled_region.h"

namespace debrief::analyses::join_regions {

using timeline::TimelineView;

namespace {

constexpr std::string_view kGraphWords = "## Call CompiledFxGraph ";
constexpr int32_t kNoRegion = -1;

std::string_view KeyIn(std::string_view name) {
  name.remove_prefix(kGraphWords.size());
  return name.substr(0, name.find(' '));
}

class Collector {
 public:
  explicit Collector(const TimelineView& view)
      : view_(view), ops_(view.model.tables.Get<TimelineOpTable>()) {}

  std::vector<Region> Collect() {
    FindCalls();
    if (regions_.empty()) return {};
    FindAround();
    AddWork();
    return std::move(regions_);
  }

 private:
  int32_t RegionNumber(RegionKind kind, std::string_view name) {
    auto [at, is_new] = numbers_.try_emplace({kind, name}, static_cast<int32_t>(regions_.size()));
    if (is_new) regions_.push_back({.kind = kind, .name = name});
    return at->second;
  }

  int32_t NumberOfName(StringId id) {
    auto [at, is_new] = by_name_.try_emplace(id, kNoRegion);
    if (!is_new) return at->second;
    std::string_view name = view_.model.pools.Text(id);
    if (name.starts_with(kCompiledRegion)) {
      at->second = RegionNumber(RegionKind::kRegion, CompileIdOfRegion(name));
    } else if (name.starts_with(kGraphWords)) {
      at->second = RegionNumber(RegionKind::kGraph, KeyIn(name));
    }
    return at->second;
  }

  // Devices repeat the annotations of the host: those are no calls.
  bool IsHost(int32_t slice) const {
    StringId kind = view_.kind[TimelineView::At(slice)];
    return kind == view_.kinds.op || kind == view_.kinds.annotation;
  }

  void FindCalls() {
    size_t op = view_.ops.begin;
    for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
      while (op < view_.ops.end && ops_.slice[op] < slice) ++op;
      if (!IsHost(slice)) continue;
      int32_t number = NumberOfName(view_.name[TimelineView::At(slice)]);
      if (number == kNoRegion && op < view_.ops.end && ops_.slice[op] == slice &&
          ops_.kernel_file[op] != StringId::kNone) {
        number = RegionNumber(RegionKind::kKernel, view_.model.pools.Text(ops_.kernel_file[op]));
      }
      if (number != kNoRegion) AddCall(number, slice);
    }
  }

  void AddCall(int32_t number, int32_t slice) {
    Region& region = regions_[static_cast<size_t>(number)];
    int64_t start = view_.start[TimelineView::At(slice)];
    if (region.calls == 0 || start < region.first_ns) region.first_ns = start;
    ++region.calls;
    region.host_ns += view_.duration[TimelineView::At(slice)];
    region_of_[slice] = number;
  }

  // A slice stands before what it encloses.
  void FindAround() {
    around_.assign(static_cast<size_t>(view_.slice_count()), kNone32);
    for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
      const bool is_call = region_of_.contains(slice);
      around_[TimelineView::At(slice)] =
          is_call ? slice : Around(view_.parent[TimelineView::At(slice)]);
    }
  }
  int32_t Around(int32_t slice) const {
    return slice == kNone32 ? kNone32 : around_[TimelineView::At(slice)];
  }

  // Each launch counts for the kernel and the graph around it, and for the region of its compile
  // id: a backward graph runs on another thread, outside of the region.
  void AddWork() {
    const auto& launches = view_.model.tables.Get<TimelineLaunchTable>();
    timeline::RowRange rows = timeline::RowsOf(launches, view_.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      StringId id = launches.compile_id[row];
      int64_t duration = view_.duration[TimelineView::At(launches.slice[row])];
      int32_t host = launches.launch[row] != kNone32 ? launches.launch[row] : launches.op[row];
      for (int32_t call = Around(host); call != kNone32;
           call = Around(view_.parent[TimelineView::At(call)])) {
        Region& region = regions_[static_cast<size_t>(region_of_.at(call))];
        if (region.kind != RegionKind::kRegion) Count(region, id, duration);
      }
      if (id == StringId::kNone) continue;
      auto region = numbers_.find({RegionKind::kRegion, view_.model.pools.Text(id)});
      if (region != numbers_.end())
        Count(regions_[static_cast<size_t>(region->second)], id, duration);
    }
  }

  static void Count(Region& region, StringId id, int64_t duration) {
    if (region.kernels > 0 && region.launched_by != id) region.launched_by_several = true;
    region.launched_by = id;
    ++region.kernels;
    region.device_ns += duration;
  }

  const TimelineView& view_;
  const TimelineOpTable& ops_;
  std::vector<Region> regions_;
  std::map<std::pair<RegionKind, std::string_view>, int32_t> numbers_;
  std::unordered_map<StringId, int32_t> by_name_;
  std::unordered_map<int32_t, int32_t> region_of_;  // by slice
  std::vector<int32_t> around_;                     // by slice: the innermost call around it
};

}  // namespace

std::string_view WordOf(RegionKind kind) {
  static constexpr std::string_view kWords[] = {"region", "graph", "kernel"};
  return kWords[static_cast<size_t>(kind)];
}

std::vector<Region> RegionsOf(const TimelineView& view) {
  std::vector<Region> regions = Collector(view).Collect();
  std::sort(regions.begin(), regions.end(), [](const Region& a, const Region& b) {
    return std::pair(a.kind, a.name) < std::pair(b.kind, b.name);
  });
  return regions;
}

}  // namespace debrief::analyses::join_regions
