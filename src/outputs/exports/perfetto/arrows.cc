#include "outputs/exports/perfetto/arrows.h"

#include <algorithm>
#include <unordered_map>

#include "base/bytes/hash.h"
#include "model/timeline/kinds.h"
#include "tables/timeline_flow.h"

namespace debrief::outputs::perfetto {

namespace {

// Numbers of arrows are those of the whole trace.
uint64_t Mix(uint64_t kind, int64_t timeline, int64_t number) {
  uint64_t mixed = kind * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(timeline);
  mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9 + static_cast<uint64_t>(number);
  mixed = (mixed ^ (mixed >> 32)) * 0x94d049bb133111eb;
  return (mixed ^ (mixed >> 31)) | 1;  // 0 is no number
}

// One arrow for each piece of work: a graph that is launched has thousands.
void AddLaunches(const MergedTimeline& merged, std::vector<ArrowEnd>& arrows) {
  const timeline::TimelineView& view = merged.view;
  std::unordered_map<int64_t, int32_t> launch_of;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    const auto at = static_cast<size_t>(slice);
    if (view.correlation[at] != kNone64 && view.kind[at] == view.kinds.runtime)
      launch_of.try_emplace(view.correlation[at], slice);
  }
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    const auto at = static_cast<size_t>(slice);
    if (view.correlation[at] == kNone64 || !view.kinds.IsWork(view.kind[at])) continue;
    const auto launch = launch_of.find(view.correlation[at]);
    if (launch == launch_of.end()) continue;
    const uint64_t id = Mix(0, view.who.input, slice);
    arrows.push_back({launch->second, id, false});
    arrows.push_back({slice, id, true});
  }
}

void AddFlows(const MergedTimeline& merged, std::vector<ArrowEnd>& arrows) {
  const auto& flows = merged.view.model.tables.Get<TimelineFlowTable>();
  const Pools& pools = merged.view.model.pools;
  for (size_t row = merged.view.flows.begin; row < merged.view.flows.end; ++row) {
    if (flows.slice[row] == kNone32) continue;
    const uint64_t name = HashBytes(pools.Text(flows.name[row]));
    const bool ends = pools.Text(flows.phase[row]) == timeline::kFlowEnd;
    arrows.push_back({flows.slice[row], Mix(name | 1, merged.view.who.input, flows.id[row]), ends});
  }
}

}  // namespace

std::vector<ArrowEnd> FindArrows(const MergedTimeline& merged) {
  std::vector<ArrowEnd> arrows;
  AddLaunches(merged, arrows);
  AddFlows(merged, arrows);
  std::stable_sort(arrows.begin(), arrows.end(),
                   [](const ArrowEnd& a, const ArrowEnd& b) { return a.slice < b.slice; });
  return arrows;
}

}  // namespace debrief::outputs::perfetto
