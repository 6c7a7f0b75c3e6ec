#include "analyses/timeline/work_origins.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "model/timeline/kinds.h"

namespace debrief::timeline {

namespace {

constexpr int32_t kLastSlice = std::numeric_limits<int32_t>::max();

// A slice of the host that has an id.
struct Known {
  int64_t id, start;
  int32_t slice;
  bool operator<(const Known& other) const {
    return std::tuple(id, start, slice) < std::tuple(other.id, other.start, other.slice);
  }
};

// Ids that are looked for: most calls of the runtime launch nothing, and sorting them all would
// cost more than everything else here. Ids are numbers in a row; where they are not, any may be
// there.
class IdSet {
 public:
  IdSet(const std::vector<WorkOrigin>& origins, std::span<const int64_t> ids) {
    for (const WorkOrigin& origin : origins) Add(ids[TimelineView::At(origin.work)]);
  }

  // The ids 0 and below say that there is none.
  bool MayHave(int64_t id) const {
    if (id <= 0) return false;
    return id >= kMostBits ||
           (static_cast<size_t>(id) < has_.size() && has_[static_cast<size_t>(id)]);
  }

 private:
  static constexpr int64_t kMostBits = int64_t{1} << 28;

  void Add(int64_t id) {
    if (id <= 0 || id >= kMostBits) return;
    if (static_cast<size_t>(id) >= has_.size()) has_.resize(static_cast<size_t>(id) * 5 / 4 + 1);
    has_[static_cast<size_t>(id)] = true;
  }

  std::vector<bool> has_;
};

template <typename Wanted>
std::vector<Known> SortedById(const TimelineView& view, std::span<const int64_t> ids,
                              const IdSet& sought, Wanted&& wanted) {
  std::vector<Known> known;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    const size_t at = TimelineView::At(slice);
    if (sought.MayHave(ids[at]) && wanted(view.kind[at]))
      known.push_back({ids[at], view.start[at], slice});
  }
  std::sort(known.begin(), known.end());
  return known;
}

// Of those with the id: the latest that began before `time`, else the first.
int32_t Latest(const std::vector<Known>& known, int64_t id, int64_t time) {
  if (id <= 0) return kNone32;
  auto after = std::upper_bound(known.begin(), known.end(), Known{id, time, kLastSlice});
  if (after != known.begin() && std::prev(after)->id == id) return std::prev(after)->slice;
  return after != known.end() && after->id == id ? after->slice : kNone32;
}

void LinkCalls(const TimelineView& view, std::vector<WorkOrigin>& origins) {
  const KindIds& kinds = view.kinds;
  const auto is_of_host = [&](StringId kind) {
    return !kinds.IsWork(kind) && kind != kinds.sync && kind != kinds.device_annotation &&
           kind != kinds.counter_range;
  };
  const auto calls =
      SortedById(view, view.correlation, IdSet(origins, view.correlation), is_of_host);
  for (WorkOrigin& origin : origins) {
    const size_t at = TimelineView::At(origin.work);
    origin.call = Latest(calls, view.correlation[at], view.start[at]);
  }
}

void LinkOps(const TimelineView& view, std::vector<WorkOrigin>& origins) {
  auto is_open = [&](const WorkOrigin& origin) {
    return origin.call == kNone32 && view.external_id[TimelineView::At(origin.work)] > 0;
  };
  if (std::none_of(origins.begin(), origins.end(), is_open)) return;
  const auto ops = SortedById(view, view.external_id, IdSet(origins, view.external_id),
                              [&](StringId kind) { return kind == view.kinds.op; });
  for (WorkOrigin& origin : origins) {
    const size_t at = TimelineView::At(origin.work);
    if (is_open(origin)) origin.op = Latest(ops, view.external_id[at], view.start[at]);
  }
}

void MarkGraphs(const TimelineView& view, std::vector<WorkOrigin>& origins) {
  std::vector<uint8_t> pieces(view.slices.size(), 0);  // of a call; 2 is several
  for (const WorkOrigin& origin : origins) {
    if (origin.call == kNone32) continue;
    uint8_t& count = pieces[TimelineView::At(origin.call)];
    count = static_cast<uint8_t>(std::min(count + 1, 2));
  }
  for (WorkOrigin& origin : origins) {
    if (origin.call == kNone32) continue;
    origin.graph = pieces[TimelineView::At(origin.call)] > 1 ||
                   view.NameOf(origin.call).find("GraphLaunch") != std::string_view::npos;
  }
}

}  // namespace

std::vector<WorkOrigin> WorkOriginsOf(const TimelineView& view) {
  std::vector<WorkOrigin> origins;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    if (view.kinds.IsWork(view.kind[TimelineView::At(slice)])) origins.push_back({.work = slice});
  }
  LinkCalls(view, origins);
  LinkOps(view, origins);
  MarkGraphs(view, origins);
  return origins;
}

}  // namespace debrief::timeline
