#include "model/timeline/launches.h"

#include <algorithm>
#include <unordered_set>

#include "tables/timeline_launch.h"

namespace debrief::timeline {

namespace {

constexpr std::string_view kGraphLaunches[] = {"cudaGraphLaunch", "hipGraphLaunch",
                                               "cuGraphLaunch"};

// Ids of those names in the model; few.
std::vector<StringId> GraphLaunchNames(const Pools& pools) {
  std::vector<StringId> names;
  for (std::string_view name : kGraphLaunches) {
    StringId id = pools.strings.Find(name);
    if (id != StringId::kNone) names.push_back(id);
  }
  return names;
}

std::vector<int32_t> GraphLaunches(const TimelineView& view) {
  std::vector<StringId> names = GraphLaunchNames(view.model.pools);
  std::vector<int32_t> launches;
  if (names.empty()) return launches;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    StringId name = view.name[TimelineView::At(slice)];
    if (view.kind[TimelineView::At(slice)] == view.kinds.runtime &&
        std::find(names.begin(), names.end(), name) != names.end())
      launches.push_back(slice);
  }
  return launches;
}

std::unordered_set<int64_t> CorrelationsOfRuntime(const TimelineView& view) {
  std::unordered_set<int64_t> correlations;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    size_t at = TimelineView::At(slice);
    if (view.kind[at] == view.kinds.runtime && view.correlation[at] != kNone64)
      correlations.insert(view.correlation[at]);
  }
  return correlations;
}

// Begins of work that no call of the host explains, sorted.
std::vector<int64_t> UnexplainedWork(const TimelineView& view, std::span<const DeviceWork> works) {
  std::unordered_set<int64_t> explained = CorrelationsOfRuntime(view);
  std::vector<int64_t> begins;
  for (const DeviceWork& work : works) {
    if (!explained.contains(view.correlation[TimelineView::At(work.slice)]))
      begins.push_back(work.time.begin);
  }
  return begins;
}

}  // namespace

LaunchLinks LaunchLinksOf(const TimelineView& view) {
  const auto& launches = view.model.tables.Get<TimelineLaunchTable>();
  RowRange rows = RowsOf(launches, view.who.input);
  LaunchLinks links;
  links.launch.assign(view.slices.size(), kNone32);
  links.op.assign(view.slices.size(), kNone32);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    links.launch[TimelineView::At(launches.slice[row])] = launches.launch[row];
    links.op[TimelineView::At(launches.slice[row])] = launches.op[row];
  }
  return links;
}

std::vector<int64_t> UnseenGraphLaunches(const TimelineView& view,
                                         std::span<const DeviceWork> works) {
  std::vector<int64_t> unseen;
  std::vector<int32_t> launches = GraphLaunches(view);
  if (launches.empty()) return unseen;
  std::unordered_set<int64_t> shown;
  for (const DeviceWork& work : works) shown.insert(view.correlation[TimelineView::At(work.slice)]);
  for (int32_t launch : launches) {
    int64_t correlation = view.correlation[TimelineView::At(launch)];
    if (correlation == kNone64 || !shown.contains(correlation))
      unseen.push_back(view.start[TimelineView::At(launch)]);
  }
  if (unseen.empty()) return unseen;
  std::sort(unseen.begin(), unseen.end());
  std::vector<int64_t> begins = UnexplainedWork(view, works);
  std::vector<int64_t> kept;
  for (size_t i = 0; i < unseen.size(); ++i) {
    int64_t until = i + 1 < unseen.size() ? unseen[i + 1] : std::numeric_limits<int64_t>::max();
    if (!AnyWithin(begins, unseen[i], until)) kept.push_back(unseen[i]);
  }
  return kept;
}

bool AnyWithin(std::span<const int64_t> launches, int64_t begin, int64_t end) {
  auto first = std::lower_bound(launches.begin(), launches.end(), begin);
  return first != launches.end() && *first < end;
}

}  // namespace debrief::timeline
