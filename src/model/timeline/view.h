// Reading the timeline tables: one timeline at a time, its slices by their numbers.
//
//   for (const TimelineView& view : Timelines(model))
//     for (int32_t slice = 0; slice < view.slice_count(); ++slice)
//       if (view.kind[slice] == view.kinds.kernel) busy += view.duration[slice];
//
// A view is spans into the model: cheap to make (a few binary searches), nothing is copied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/model.h"
#include "model/table_group.h"
#include "tables/timeline.h"
#include "tables/timeline_collective.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_device_work.h"
#include "tables/timeline_flow.h"
#include "tables/timeline_memory.h"
#include "tables/timeline_op.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_track.h"

namespace debrief::timeline {

// Rows [begin, end) of some table.
struct RowRange {
  size_t begin = 0;
  size_t end = 0;
  size_t size() const { return end - begin; }
};

// The rows of one input: every table has them together and in order of input.
template <typename Table>
RowRange RowsOf(const Table& table, int32_t input) {
  auto [first, last] = std::equal_range(table.input.begin(), table.input.end(), input);
  return {static_cast<size_t>(first - table.input.begin()),
          static_cast<size_t>(last - table.input.begin())};
}

// What a name tells, found out once for each distinct one: millions of slices share few names.
template <typename T>
class OfName {
 public:
  OfName(const Pools& pools, T (*find)(std::string_view name)) : pools_(pools), find_(find) {}

  T operator()(StringId name) {
    const auto at = static_cast<size_t>(name);
    if (at >= known_.size()) known_.resize(pools_.strings.size());
    if (!known_[at]) known_[at] = find_(pools_.Text(name));
    return *known_[at];
  }

 private:
  const Pools& pools_;
  T (*find_)(std::string_view);
  std::vector<std::optional<T>> known_;
};

// A text or a list of the model in the pools of `part`.
inline StringId Copied(const Model& model, StringId id, Part& part) {
  return id == StringId::kNone ? id : part.pools.Intern(model.pools.Text(id));
}
inline ListId Copied(const Model& model, ListId id, Part& part) {
  return id == ListId::kNone ? id : part.pools.lists.Intern(model.pools.lists.Get(id));
}

// Ids of the words of kinds.h in one model; kNone for a word that no timeline uses (no slice has
// kind kNone, so comparing with it is safe).
struct KindIds {
  explicit KindIds(const Pools& pools);
  StringId op, runtime, python, annotation, kernel, memcpy, memset, sync, queue, device_annotation,
      counter_range, overhead, span, async, instant, other;
  StringId thread, stream, stream_annotation, counter;  // of tracks

  // Kernels, copies and fills: what keeps a device busy.
  bool IsWork(StringId kind) const { return kind == kernel || kind == memcpy || kind == memset; }
};

// What a view reads; for the declarations of analyses.
using ViewTables = TableGroup<TimelineTable, TimelineTrackTable, TimelineSliceTable,
                              TimelineOpTable, TimelineDeviceWorkTable, TimelineCollectiveTable,
                              TimelineFlowTable, TimelineMemoryTable, TimelineCounterTable>;

struct TimelineView {
  TimelineView(const Model& model, size_t timeline_row);

  const Model& model;
  size_t row;  // of table timeline
  Identity who;
  KindIds kinds;
  RowRange slices, tracks, ops, works, collectives, flows, memory, counters;

  // Columns of this timeline's slices, by the number of the slice.
  std::span<const int32_t> track, parent, depth;
  std::span<const int64_t> start, duration, correlation, external_id;
  std::span<const StringId> name, category, kind;

  // A row of a derived table that belongs to this timeline.
  template <typename Row>
  Row NewRow() const {
    return Part::RowOf<Row>(who);
  }

  // The name of a slice in the pools of `part`; none of no slice.
  StringId CopyName(int32_t slice, Part& part) const {
    return slice == kNone32 ? StringId::kNone : part.pools.Intern(NameOf(slice));
  }

  int32_t slice_count() const { return static_cast<int32_t>(slices.size()); }
  int64_t end(int32_t slice) const { return start[At(slice)] + duration[At(slice)]; }
  std::string_view NameOf(int32_t slice) const { return model.pools.Text(name[At(slice)]); }

  // Row in the table of details, or none. Binary search; walk the rows in order where many are
  // needed.
  std::optional<size_t> OpRow(int32_t slice) const;
  std::optional<size_t> CollectiveRow(int32_t slice) const;

  static size_t At(int32_t number) { return static_cast<size_t>(number); }
};

// All of the model, in order of input.
std::vector<TimelineView> Timelines(const Model& model);

}  // namespace debrief::timeline
