#include "model/timeline/arrange.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "model/timeline/kinds.h"
#include "model/timeline/writer.h"
#include "tables/accel_stamp.h"
#include "tables/timeline_args.h"
#include "tables/timeline_collective.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_device_work.h"
#include "tables/timeline_flow.h"
#include "tables/timeline_memory.h"
#include "tables/timeline_op.h"
#include "tables/timeline_op_args.h"
#include "tables/timeline_stage_op.h"

namespace debrief::timeline {

namespace {

constexpr uint32_t kNoRow = std::numeric_limits<uint32_t>::max();

bool IsEdge(int64_t duration) { return duration == kBegins || duration == kEnds; }

std::vector<uint32_t> EdgeRows(const TimelineSliceTable& slices) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (IsEdge(slices.duration_ns[row])) rows.push_back(row);
  }
  return rows;
}

// No later than the last event: a slice without an end was open when the recording stopped.
int64_t LastTime(const TimelineSliceTable& slices) {
  int64_t last = std::numeric_limits<int64_t>::min();
  for (size_t row = 0; row < slices.size(); ++row) {
    int64_t duration = IsEdge(slices.duration_ns[row]) ? 0 : slices.duration_ns[row];
    last = std::max(last, slices.start_ns[row] + std::max<int64_t>(duration, 0));
  }
  return last;
}

// Rows of each track together, in the order of the file: a counting sort. Ends are left out.
std::vector<uint32_t> GroupByTrack(const TimelineSliceTable& slices, std::vector<uint32_t>& first) {
  for (size_t row = 0; row < slices.size(); ++row) {
    if (slices.duration_ns[row] != kEnds) ++first[static_cast<size_t>(slices.track[row]) + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  std::vector<uint32_t> order(first.back());
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (slices.duration_ns[row] != kEnds)
      order[next[static_cast<size_t>(slices.track[row])]++] = row;
  }
  return order;
}

// Sorted stretches are merged: what tables of an export or threads of a recorder wrote one behind
// the other is a few of them. Many short ones are sorted as a whole.
template <typename Earlier>
void SortRuns(std::span<uint32_t> rows, const Earlier& earlier) {
  constexpr size_t kShortRun = 32;
  std::vector<size_t> ends;
  for (auto at = rows.begin(); at != rows.end();) {
    at = std::is_sorted_until(at, rows.end(), earlier);
    ends.push_back(static_cast<size_t>(at - rows.begin()));
    if (ends.size() > rows.size() / kShortRun + 1)
      return std::sort(rows.begin(), rows.end(), earlier);
  }
  while (ends.size() > 1) {
    std::vector<size_t> merged;
    for (size_t i = 0, begin = 0; i < ends.size(); i += 2) {
      const size_t end = ends[std::min(i + 1, ends.size() - 1)];
      const auto from = rows.begin() + static_cast<std::ptrdiff_t>(begin);
      std::inplace_merge(from, rows.begin() + static_cast<std::ptrdiff_t>(ends[i]),
                         rows.begin() + static_cast<std::ptrdiff_t>(end), earlier);
      merged.push_back(begin = end);
    }
    ends = std::move(merged);
  }
}

void SortTrack(const TimelineSliceTable& slices, std::span<uint32_t> rows) {
  SortRuns(rows, [&](uint32_t a, uint32_t b) {
    const int64_t start_a = slices.start_ns[a], start_b = slices.start_ns[b];
    if (start_a != start_b) return start_a < start_b;
    const int64_t duration_a = slices.duration_ns[a], duration_b = slices.duration_ns[b];
    return duration_a != duration_b ? duration_a > duration_b : a < b;
  });
}

bool IsIdentity(std::span<const uint32_t> order) {
  for (uint32_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) return false;
  }
  return true;
}

// Renumbers the slices of a table of details and sorts its rows by them.
template <typename Details>
void Follow(Details& details, const std::vector<uint32_t>& number_of) {
  if (details.size() == 0) return;
  std::vector<uint32_t> row_of(number_of.size(), kNoRow);
  for (uint32_t row = 0; row < details.size(); ++row) {
    uint32_t number = number_of[static_cast<size_t>(details.slice[row])];
    details.slice[row] = static_cast<int32_t>(number);
    if (number != kNoRow) row_of[number] = row;
  }
  std::erase(row_of, kNoRow);
  details.Gather(row_of);
}

void SetTracks(const std::vector<uint32_t>& first, TimelineTrackTable& tracks) {
  for (size_t track = 0; track < tracks.size(); ++track) {
    tracks.first_slice[track] = static_cast<int32_t>(first[track]);
    tracks.slices[track] = static_cast<int32_t>(first[track + 1] - first[track]);
  }
}

// Pairs begins with ends of their track and name that stand right behind them in the file; returns
// the other edges.
std::vector<uint32_t> PairNeighbours(std::vector<uint32_t> rows, TimelineSliceTable& slices,
                                     EdgeCounts& counts) {
  auto belong = [&](uint32_t begin, uint32_t end) {
    return end == begin + 1 && slices.duration_ns[begin] == kBegins &&
           slices.duration_ns[end] == kEnds && slices.track[begin] == slices.track[end] &&
           slices.name[begin] == slices.name[end] && slices.depth[begin] != kPairedById &&
           slices.depth[end] != kPairedById;
  };
  size_t kept = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + 1 < rows.size() && belong(rows[i], rows[i + 1])) {
      int64_t duration = slices.start_ns[rows[i + 1]] - slices.start_ns[rows[i]];
      if (duration < 0) ++counts.reversed;
      slices.duration_ns[rows[i]] = std::max<int64_t>(duration, 0);
      ++i;
    } else {
      rows[kept++] = rows[i];
    }
  }
  rows.resize(kept);
  return rows;
}

// Slices that are open at a time, outermost first.
class OpenSlices {
 public:
  explicit OpenSlices(const TimelineSliceTable& slices) : slices_(slices) {}

  // Innermost open slice at `start` that lasts until `end` at least; none when there is none.
  // Slices that are over at `start` are closed. One that ends too early is passed over: profilers
  // round, and some events overlap without being nested.
  int32_t Enclosing(int64_t start, int64_t end) {
    while (!open_.empty() && EndOf(open_.back()) <= start) open_.pop_back();
    for (size_t i = open_.size(); i-- > 0;) {
      if (EndOf(open_[i]) >= end) return static_cast<int32_t>(open_[i]);
    }
    return kNone32;
  }

  // Those that end no later are never asked for again: this one encloses whatever they do. Without
  // them ends fall from the outermost to the innermost, and each slice is passed over only once.
  void Open(uint32_t slice) {
    while (!open_.empty() && EndOf(open_.back()) <= EndOf(slice)) open_.pop_back();
    open_.push_back(slice);
  }
  void Clear() { open_.clear(); }

 private:
  int64_t EndOf(uint32_t slice) const {
    return slices_.start_ns[slice] + slices_.duration_ns[slice];
  }

  const TimelineSliceTable& slices_;
  std::vector<uint32_t> open_;
};

}  // namespace

EdgeCounts PairEdges(TableSet& tables) {
  auto& slices = tables.Edit<TimelineSliceTable>();
  EdgeCounts counts;
  std::vector<uint32_t> rows = EdgeRows(slices);
  if (rows.empty()) return counts;
  int64_t last = LastTime(slices);
  rows = PairNeighbours(std::move(rows), slices, counts);
  auto bracket = [&](uint32_t row) {
    bool has_id = slices.depth[row] == kPairedById;
    return std::tuple(slices.track[row], has_id ? slices.external_id[row] : kNone64);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(bracket(a), slices.start_ns[a]) < std::tuple(bracket(b), slices.start_ns[b]);
  });
  std::vector<uint32_t> open;
  auto close_rest = [&] {
    for (uint32_t row : open) slices.duration_ns[row] = last - slices.start_ns[row];
    counts.never_ended += static_cast<int64_t>(open.size());
    counts.open_slices.insert(counts.open_slices.end(), open.begin(), open.end());
    open.clear();
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && bracket(rows[i]) != bracket(rows[i - 1])) close_rest();
    if (slices.duration_ns[rows[i]] == kBegins) {
      open.push_back(rows[i]);
    } else if (open.empty()) {
      ++counts.never_begun;
    } else {
      auto begin =
          BeginOf(open, [&](uint32_t row) { return slices.name[row] == slices.name[rows[i]]; });
      slices.duration_ns[*begin] = slices.start_ns[rows[i]] - slices.start_ns[*begin];
      open.erase(begin);
    }
  }
  close_rest();
  return counts;
}

void ShiftTimes(int64_t by, TableSet& tables) {
  auto shift = [by](std::vector<int64_t>& times) {
    for (int64_t& time : times) time += by;
  };
  shift(tables.Edit<TimelineSliceTable>().start_ns);
  shift(tables.Edit<TimelineMemoryTable>().time_ns);
  shift(tables.Edit<TimelineCounterTable>().time_ns);
  shift(tables.Edit<TimelineFlowTable>().time_ns);
  for (int64_t& time : tables.Edit<AccelStampTable>().host_start_ns) {
    if (time != kNone64) time += by;
  }
}

void SortSlices(TableSet& tables) {
  auto& slices = tables.Edit<TimelineSliceTable>();
  auto& tracks = tables.Edit<TimelineTrackTable>();
  std::vector<uint32_t> first(tracks.size() + 1);
  std::vector<uint32_t> order = GroupByTrack(slices, first);
  for (size_t track = 0; track < tracks.size(); ++track)
    SortTrack(slices, std::span(order).subspan(first[track], first[track + 1] - first[track]));
  SetTracks(first, tracks);
  std::vector<uint32_t> number_of(slices.size(), kNoRow);
  for (uint32_t i = 0; i < order.size(); ++i) number_of[order[i]] = i;
  if (!IsIdentity(order) || order.size() < slices.size()) slices.Gather(order);
  order = {};
  Follow(tables.Edit<TimelineOpTable>(), number_of);
  Follow(tables.Edit<TimelineDeviceWorkTable>(), number_of);
  Follow(tables.Edit<TimelineCollectiveTable>(), number_of);
  Follow(tables.Edit<TimelineOpArgsTable>(), number_of);
  Follow(tables.Edit<TimelineStageOpTable>(), number_of);
  Follow(tables.Edit<AccelStampTable>(), number_of);
  Follow(tables.Edit<TimelineArgsTable>(), number_of);
}

void NestSlices(Part& whole) {
  auto& slices = whole.tables.Edit<TimelineSliceTable>();
  const auto& tracks = whole.tables.Get<TimelineTrackTable>();
  StringId thread = whole.pools.Intern(kThread);
  OpenSlices open(slices);
  for (size_t track = 0; track < tracks.size(); ++track) {
    open.Clear();
    auto first = static_cast<uint32_t>(tracks.first_slice[track]);
    for (uint32_t i = first; i < first + static_cast<uint32_t>(tracks.slices[track]); ++i) {
      slices.depth[i] = 0;
      if (tracks.kind[track] != thread) continue;
      slices.parent[i] =
          open.Enclosing(slices.start_ns[i], slices.start_ns[i] + slices.duration_ns[i]);
      if (slices.parent[i] != kNone32)
        slices.depth[i] = slices.depth[static_cast<size_t>(slices.parent[i])] + 1;
      open.Open(i);
    }
  }
}

void BindFlows(Part& whole) {
  auto& flows = whole.tables.Edit<TimelineFlowTable>();
  const auto& slices = whole.tables.Get<TimelineSliceTable>();
  const auto& tracks = whole.tables.Get<TimelineTrackTable>();
  std::vector<uint32_t> order(flows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(flows.track[a], flows.time_ns[a]) <
           std::tuple(flows.track[b], flows.time_ns[b]);
  });
  OpenSlices open(slices);
  uint32_t next = 0, end = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    uint32_t row = order[i];
    auto track = static_cast<size_t>(flows.track[row]);
    if (i == 0 || flows.track[row] != flows.track[order[i - 1]]) {
      open.Clear();
      next = static_cast<uint32_t>(tracks.first_slice[track]);
      end = next + static_cast<uint32_t>(tracks.slices[track]);
    }
    for (; next < end && slices.start_ns[next] <= flows.time_ns[row]; ++next) {
      (void)open.Enclosing(slices.start_ns[next], slices.start_ns[next]);
      open.Open(next);
    }
    flows.slice[row] = open.Enclosing(flows.time_ns[row], flows.time_ns[row]);
  }
}

Extent ExtentOfSlices(const Part& whole) {
  const auto& slices = whole.tables.Get<TimelineSliceTable>();
  StringId span = whole.pools.strings.Find(kSpan);
  Extent extent;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (slices.kind[i] == span) continue;
    int64_t end = slices.start_ns[i] + std::max<int64_t>(slices.duration_ns[i], 0);
    bool is_first = extent.start_ns == kNone64;
    extent.start_ns = is_first ? slices.start_ns[i] : std::min(extent.start_ns, slices.start_ns[i]);
    extent.end_ns = is_first ? end : std::max(extent.end_ns, end);
  }
  return extent;
}

}  // namespace debrief::timeline
