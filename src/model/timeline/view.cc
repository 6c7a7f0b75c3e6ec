#include "model/timeline/view.h"

#include "model/timeline/kinds.h"
#include "tables/timeline.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_flow.h"
#include "tables/timeline_memory.h"

namespace debrief::timeline {

namespace {

template <typename T>
std::span<const T> Rows(const std::vector<T>& column, RowRange rows) {
  return std::span(column).subspan(rows.begin, rows.size());
}

template <typename Details>
std::optional<size_t> FindSlice(const Details& details, RowRange rows, int32_t slice) {
  auto numbers = Rows(details.slice, rows);
  auto found = std::lower_bound(numbers.begin(), numbers.end(), slice);
  if (found == numbers.end() || *found != slice) return std::nullopt;
  return rows.begin + static_cast<size_t>(found - numbers.begin());
}

}  // namespace

KindIds::KindIds(const Pools& pools) {
  auto id = [&](std::string_view word) { return pools.strings.Find(word); };
  op = id(kOp), runtime = id(kRuntime), python = id(kPython), annotation = id(kAnnotation);
  kernel = id(kKernel), memcpy = id(kMemcpy), memset = id(kMemset), sync = id(kSync),
  queue = id(kQueue);
  device_annotation = id(kDeviceAnnotation), counter_range = id(kCounterRange);
  overhead = id(kOverhead), span = id(kSpan), async = id(kAsync), instant = id(kInstant);
  other = id(kOther), thread = id(kThread), stream = id(kStream);
  stream_annotation = id(kStreamAnnotation), counter = id(kCounter);
}

TimelineView::TimelineView(const Model& the_model, size_t timeline_row)
    : model(the_model),
      row(timeline_row),
      who(Identity::Of(the_model.tables.Get<TimelineTable>(), timeline_row)),
      kinds(the_model.pools) {
  const TableSet& tables = model.tables;
  const auto& table = tables.Get<TimelineSliceTable>();
  slices = RowsOf(table, who.input);
  tracks = RowsOf(tables.Get<TimelineTrackTable>(), who.input);
  ops = RowsOf(tables.Get<TimelineOpTable>(), who.input);
  works = RowsOf(tables.Get<TimelineDeviceWorkTable>(), who.input);
  collectives = RowsOf(tables.Get<TimelineCollectiveTable>(), who.input);
  flows = RowsOf(tables.Get<TimelineFlowTable>(), who.input);
  memory = RowsOf(tables.Get<TimelineMemoryTable>(), who.input);
  counters = RowsOf(tables.Get<TimelineCounterTable>(), who.input);
  track = Rows(table.track, slices), parent = Rows(table.parent, slices);
  depth = Rows(table.depth, slices), start = Rows(table.start_ns, slices);
  duration = Rows(table.duration_ns, slices), correlation = Rows(table.correlation, slices);
  external_id = Rows(table.external_id, slices), name = Rows(table.name, slices);
  category = Rows(table.category, slices), kind = Rows(table.kind, slices);
}

std::optional<size_t> TimelineView::OpRow(int32_t slice) const {
  return FindSlice(model.tables.Get<TimelineOpTable>(), ops, slice);
}

std::optional<size_t> TimelineView::CollectiveRow(int32_t slice) const {
  return FindSlice(model.tables.Get<TimelineCollectiveTable>(), collectives, slice);
}

std::vector<TimelineView> Timelines(const Model& model) {
  std::vector<TimelineView> views;
  for (size_t row = 0; row < model.tables.Get<TimelineTable>().size(); ++row)
    views.emplace_back(model, row);
  return views;
}

}  // namespace debrief::timeline
