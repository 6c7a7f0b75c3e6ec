#include "analyses/cost/regions.h"

#include <algorithm>
#include <cmath>

#include "model/compile/frames.h"
#include "tables/compilation.h"
#include "tables/compile_rank_only.h"
#include "tables/compile_span.h"
#include "tables/cost_region.h"
#include "tables/timeline_launch.h"
#include "torch/compiled_region.h"

namespace debrief::analyses::cost {

namespace {

using timeline::TimelineView;

// Without the attempt; empty for another name.
std::string_view CompileIdIn(std::string_view name) {
  return WithoutAttempt(CompileIdOfRegion(name));
}

class Finder {
 public:
  Finder(const Model& model, std::map<RankKey, RegionTime>& times)
      : model_(model), times_(times), region_of_(model.pools, CompileIdIn) {}

  void AddLogs() {
    const auto& spans = model_.tables.Get<CompileSpanTable>();
    for (size_t row = 0; row < spans.size(); ++row) {
      Region& region =
          Of({spans.job[row], spans.attempt[row], spans.rank[row]}, Text(spans.compile_id[row]));
      region.function = Text(spans.function[row]);
      region.file = Text(spans.file[row]);
      region.line = spans.line[row];
      double seconds = spans.seconds[row];
      if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9) continue;
      region.compile_ns = std::max<int64_t>(0, region.compile_ns) +
                          static_cast<int64_t>(std::llround(seconds * 1e9));
    }
    const auto& compilations = model_.tables.Get<CompilationTable>();
    for (size_t row = 0; row < compilations.size(); ++row) {
      if (compilations.number[row] <= 0) continue;
      Of({compilations.job[row], compilations.attempt[row], compilations.rank[row]},
         Text(compilations.compile_id[row]))
          .again = true;
    }
    AddAlone();
  }

  void AddProfile(const TimelineView& view, const Division* division) {
    AddLaunches(view);
    for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
      std::string_view id = RegionOf(view, slice);
      if (id.empty()) continue;
      Interval time{view.start[TimelineView::At(slice)], view.end(slice)};
      Region& region = Of(KeyOf(view.who), id);
      region.in_profile = true;
      ++region.runs;
      region.region_ns += std::max<int64_t>(0, time.length());
      calls_.push_back(time);
    }
    if (division != nullptr)
      times_[KeyOf(view.who)].region_ns +=
          Length(Intersect(Union(std::move(calls_)), division->windows));
    calls_.clear();
  }

  Regions Take() { return std::move(regions_); }

 private:
  // The table names the compilation as the lowest of its ranks does; the others are taken for the
  // same where it is of the same function.
  void AddAlone() {
    const auto& only = model_.tables.Get<CompileRankOnlyTable>();
    for (size_t row = 0; row < only.size(); ++row) {
      const std::span<const int64_t> ranks = model_.pools.lists.Get(only.ranks[row]);
      if (ranks.size() >= model_.pools.lists.Get(only.missing[row]).size()) continue;
      for (int64_t rank : ranks) {
        auto found = regions_.find({{only.job[row], only.attempt[row], static_cast<int32_t>(rank)},
                                    WithoutAttempt(Text(only.compile_id[row]))});
        if (found != regions_.end() && found->second.function == Text(only.function[row]))
          found->second.alone = true;
      }
    }
  }

  std::string_view Text(StringId id) const { return model_.pools.Text(id); }

  Region& Of(const RankKey& rank, std::string_view id) {
    return regions_[{rank, WithoutAttempt(id)}];
  }

  std::string_view RegionOf(const TimelineView& view, int32_t slice) {
    size_t at = TimelineView::At(slice);
    if (view.kind[at] == view.kinds.device_annotation || view.kinds.IsWork(view.kind[at]))
      return {};
    return region_of_(view.name[at]);
  }

  void AddLaunches(const TimelineView& view) {
    const auto& launches = model_.tables.Get<TimelineLaunchTable>();
    timeline::RowRange rows = timeline::RowsOf(launches, view.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      if (launches.compile_id[row] == StringId::kNone) continue;
      int64_t ns = std::max<int64_t>(0, view.duration[TimelineView::At(launches.slice[row])]);
      Region& region = Of(KeyOf(view.who), Text(launches.compile_id[row]));
      region.in_profile = true;
      region.gpu_ns += ns;
      ++region.kernels;
      times_[KeyOf(view.who)].gpu_ns += ns;
    }
  }

  const Model& model_;
  std::map<RankKey, RegionTime>& times_;
  Regions regions_;
  timeline::OfName<std::string_view> region_of_;  // empty for what is no region
  std::vector<Interval> calls_;
};

}  // namespace

Regions FindRegions(const Model& model, const std::vector<Division>& divisions,
                    std::map<RankKey, RegionTime>& times) {
  Finder finder(model, times);
  finder.AddLogs();
  size_t next = 0;
  for (const TimelineView& view : timeline::Timelines(model)) {
    while (next < divisions.size() && divisions[next].who.input < view.who.input) ++next;
    bool divided = next < divisions.size() && divisions[next].who.input == view.who.input;
    finder.AddProfile(view, divided ? &divisions[next] : nullptr);
  }
  return finder.Take();
}

void AddRegionRows(const Regions& regions, Part& part) {
  auto text = [&](std::string_view each) {
    return each.empty() ? StringId::kNone : part.pools.Intern(each);
  };
  for (const auto& [key, region] : regions) {
    auto row = Part::RowOf<CostRegionRow>({.input = kNone32,
                                           .job = key.first.job,
                                           .attempt = key.first.attempt,
                                           .rank = key.first.rank});
    row.compile_id = part.pools.Intern(key.second);
    row.function = text(region.function);
    row.file = text(region.file);
    row.line = region.line;
    row.compile_ns = region.compile_ns;
    row.again = region.again;
    row.alone = region.alone;
    if (region.in_profile) {
      row.gpu_ns = region.gpu_ns;
      row.kernels = region.kernels;
      row.runs = region.runs;
      row.region_ns = region.region_ns;
    }
    if (region.runs > 0) row.gpu_ns_a_run = region.gpu_ns / region.runs;
    if (region.runs > 0 && region.compile_ns != kNone64)
      row.compile_ns_a_run = region.compile_ns / region.runs;
    part.tables.Edit<CostRegionTable>().Add(row);
  }
}

}  // namespace debrief::analyses::cost
