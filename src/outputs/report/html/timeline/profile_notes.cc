#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "outputs/report/html/timeline/profile_parts.h"
#include "torch/dtype.h"

namespace debrief::outputs::html {

namespace {

// The first row of the details whose slice is not below this one.
template <typename Table>
size_t FirstRow(const Table& table, const timeline::RowRange& rows, int32_t slice) {
  const auto begin = table.slice.begin();
  const auto at = std::lower_bound(begin + static_cast<ptrdiff_t>(rows.begin),
                                   begin + static_cast<ptrdiff_t>(rows.end), slice);
  return static_cast<size_t>(at - begin);
}

// Moves `row` to the slice; whether it has one.
template <typename Table>
bool Reach(const Table& table, const timeline::RowRange& rows, int32_t slice, size_t& row) {
  while (row < rows.end && table.slice[row] < slice) ++row;
  return row < rows.end && table.slice[row] == slice;
}

}  // namespace

ProfileNotes::ProfileNotes(const timeline::TimelineView& view, TimelineTexts& texts)
    : view_(view),
      op_table_(view.model.tables.Get<TimelineOpTable>()),
      work_table_(view.model.tables.Get<TimelineDeviceWorkTable>()),
      collective_table_(view.model.tables.Get<TimelineCollectiveTable>()),
      texts_(texts) {
  Seek(0);
}

void ProfileNotes::Seek(int32_t slice) {
  op_ = FirstRow(op_table_, view_.ops, slice);
  work_ = FirstRow(work_table_, view_.works, slice);
  collective_ = FirstRow(collective_table_, view_.collectives, slice);
}

ProfileNotes::Note ProfileNotes::Of(int32_t slice) {
  if (Reach(collective_table_, view_.collectives, slice, collective_))
    return {OfCollective(collective_), true};
  if (Reach(work_table_, view_.works, slice, work_)) return {OfWork(work_), false};
  if (Reach(op_table_, view_.ops, slice, op_)) return {texts_.Number(op_table_.shapes[op_]), false};
  return {};
}

uint32_t ProfileNotes::OfWork(size_t row) {
  const WorkKey key = {work_table_.bytes[row],        work_table_.blocks[row],
                       work_table_.threads[row],      work_table_.registers[row],
                       work_table_.shared_bytes[row], work_table_.wait_stream[row]};
  const auto [at, is_new] = works_.try_emplace(key, 0);
  if (!is_new) return at->second;
  const auto& [bytes, blocks, threads, registers, shared, wait_stream] = key;
  text_.clear();
  if (bytes != kNone64) AddWords(text_, "{} bytes", bytes);
  if (blocks != kNone64 && threads != kNone32)
    AddWords(text_, "{} blocks of {} threads", blocks, threads);
  if (registers != kNone32) AddWords(text_, "{} registers a thread", registers);
  if (shared != kNone64 && shared != 0) AddWords(text_, "{} bytes of shared memory", shared);
  if (wait_stream != kNone64) AddWords(text_, "waits for stream {}", wait_stream);
  return at->second = texts_.Number(text_);
}

// "allreduce, group mesh_tp (9), seq 4, 8192 Float (32768 bytes), peer rank 4".
uint32_t ProfileNotes::OfCollective(size_t row) {
  const TimelineCollectiveTable& table = collective_table_;
  const Pools& pools = view_.model.pools;
  text_ = CutText(pools.Text(table.op[row]));
  const std::string_view name = CutText(pools.Text(table.group_name[row]));
  const std::string_view desc = CutText(pools.Text(table.group_desc[row]));
  if (!desc.empty()) {
    AddWords(text_, "group {} ({})", desc, name);
  } else if (!name.empty()) {
    AddWords(text_, "group {}", name);
  }
  if (table.seq[row] != kNone64) AddWords(text_, "seq {}", table.seq[row]);
  const int64_t elements = std::max(table.in_elements[row], table.out_elements[row]);
  const std::string_view dtype = pools.Text(table.dtype[row]);
  constexpr int64_t kMostElements = int64_t{1} << 56;  // times a width
  if (elements >= 0 && elements < kMostElements) {
    AddWords(text_, "{} {}", elements, CutText(dtype));
    const int64_t width = WidthOf(dtype);
    if (width > 0) fmt::format_to(std::back_inserter(text_), " ({} bytes)", elements * width);
  }
  if (table.peer[row] != kNone32) AddWords(text_, "peer rank {}", table.peer[row]);
  return texts_.Number(text_);
}

}  // namespace debrief::outputs::html
