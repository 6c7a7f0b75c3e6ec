#include <algorithm>
#include <tuple>

#include "model/timeline/kinds.h"
#include "outputs/report/html/timeline/profile_parts.h"
#include "tables/timeline_flow.h"
#include "tables/timeline_launch.h"

namespace debrief::outputs::html {

namespace {

using timeline::TimelineView;

bool StartsBefore(const TimelineArrow& a, const TimelineArrow& b) {
  return std::tie(a.to, a.from) < std::tie(b.to, b.from);
}

class FlowFinder {
 public:
  FlowFinder(const TimelineView& view, const std::vector<bool>& kept, IslandWriter& writer)
      : view_(view), kept_(kept), writer_(writer) {}

  std::vector<TimelineArrow> Find() {
    AddLaunches();
    if (!std::is_sorted(arrows_.begin(), arrows_.end(), StartsBefore))
      std::sort(arrows_.begin(), arrows_.end(), StartsBefore);
    const auto middle = static_cast<ptrdiff_t>(arrows_.size());
    AddFlows();
    std::sort(arrows_.begin() + middle, arrows_.end(), StartsBefore);
    std::inplace_merge(arrows_.begin(), arrows_.begin() + middle, arrows_.end(), StartsBefore);
    return std::move(arrows_);
  }

 private:
  void Add(int32_t from, int32_t to, uint8_t kind) {
    const auto is_kept = [&](int32_t slice) {
      return slice >= 0 && static_cast<size_t>(slice) < kept_.size() &&
             kept_[static_cast<size_t>(slice)];
    };
    if (from == to || !is_kept(from) || !is_kept(to)) return;
    arrows_.push_back({static_cast<uint32_t>(to), static_cast<uint32_t>(from), kind});
  }

  void AddLaunches() {
    const auto& launches = view_.model.tables.Get<TimelineLaunchTable>();
    const timeline::RowRange rows = timeline::RowsOf(launches, view_.who.input);
    if (rows.size() == 0) return;
    const uint8_t kind = writer_.AddFlowKind("launch");
    arrows_.reserve(rows.size() + view_.flows.size() / 2);
    for (size_t row = rows.begin; row < rows.end; ++row)
      Add(launches.launch[row], launches.slice[row], kind);
  }

  // Ends of the same name and id belong together, each to the one before it in time: an id may be
  // used again.
  void AddFlows() {
    const auto& flows = view_.model.tables.Get<TimelineFlowTable>();
    const StringId start = view_.model.pools.strings.Find(timeline::kFlowStart);
    std::vector<uint32_t> rows;
    for (size_t row = view_.flows.begin; row < view_.flows.end; ++row)
      rows.push_back(static_cast<uint32_t>(row));
    const auto key = [&](uint32_t row) { return std::tuple(flows.name[row], flows.id[row]); };
    std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
      // A start comes before an end of the same time.
      return std::tuple(key(a), flows.time_ns[a], flows.phase[a] != start, a) <
             std::tuple(key(b), flows.time_ns[b], flows.phase[b] != start, b);
    });
    for (size_t i = 1; i < rows.size(); ++i) {
      const uint32_t from = rows[i - 1];
      const uint32_t to = rows[i];
      if (key(from) != key(to) || flows.phase[to] == start) continue;
      Add(flows.slice[from], flows.slice[to], KindOf(flows.name[to]));
    }
  }

  uint8_t KindOf(StringId name) {
    if (name != last_name_) last_kind_ = writer_.AddFlowKind(view_.model.pools.Text(name));
    last_name_ = name;
    return last_kind_;
  }

  const TimelineView& view_;
  const std::vector<bool>& kept_;
  IslandWriter& writer_;
  std::vector<TimelineArrow> arrows_;
  StringId last_name_ = StringId::kNone;
  uint8_t last_kind_ = 0;
};

}  // namespace

std::vector<TimelineArrow> ProfileFlows(const TimelineView& view, const std::vector<bool>& kept,
                                        IslandWriter& writer) {
  return FlowFinder(view, kept, writer).Find();
}

}  // namespace debrief::outputs::html
