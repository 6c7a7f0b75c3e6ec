// Ranges and marks that programs and libraries put down with NVTX.
#include <array>

#include "inputs/nsys/event_rows.h"
#include "inputs/nsys/ids.h"
#include "model/timeline/kinds.h"
#include "tables/timeline_collective.h"
#include "tables/timeline_op.h"
#include "torch/nvtx_text.h"

namespace debrief::inputs::nsys {

namespace {

constexpr std::array<std::string_view, 9> kNvtxColumns = {"start",     "end",      "globalTid",
                                                          "eventType", "text",     "textId",
                                                          "domainId",  "jsonText", "jsonTextId"};
enum NvtxColumn : size_t {
  kNvtxStart,
  kNvtxEnd,
  kNvtxThread,
  kNvtxType,
  kNvtxText,
  kNvtxTextId,
  kNvtxDomain,
  kNvtxJson,
  kNvtxJsonId,
};

// Of the program itself, and read from a file of such events.
bool IsMark(int64_t type) { return type == 34 || type == 65; }
bool IsPushPop(int64_t type) { return type == 59 || type == 70; }
bool IsStartEnd(int64_t type) { return type == 60 || type == 71; }

std::string_view TextOf(const SqliteScan& row, size_t text, size_t text_id, EventRows& rows) {
  if (!row.IsNull(text)) return row.Text(text);
  return row.IsNull(text_id) ? std::string_view() : rows.Text(row.Int(text_id));
}

void AddOp(const NvtxText& text, int32_t slice, EventRows& rows) {
  if (text.sequence == kNone64 && text.shapes.empty()) return;
  auto op = rows.NewRow<TimelineOpRow>();
  op.slice = slice;
  op.sequence = text.sequence;
  if (!text.shapes.empty()) op.shapes = rows.Intern(text.shapes);
  rows.notes().has_shapes |= !text.shapes.empty();
  rows.Add<TimelineOpTable>(op);
}

// Its payload counts bytes.
void AddNcclCall(const SqliteScan& row, std::string_view name, int32_t slice, EventRows& rows) {
  auto collective = rows.NewRow<TimelineCollectiveRow>();
  collective.slice = slice;
  collective.op = rows.Intern(name);
  const std::string_view json = TextOf(row, kNvtxJson, kNvtxJsonId, rows);
  const int64_t bytes = PayloadNumber(json, "Message size [bytes]");
  if (bytes >= 0) {
    collective.dtype = rows.Intern("Byte");
    collective.in_elements = collective.out_elements = bytes;
  }
  rows.notes().has_nccl = true;
  rows.Add<TimelineCollectiveTable>(collective);
}

// The start of a range without an end, which was open when the recording stopped.
bool StartOpen(const SqliteScan& row, EventRows& rows, TimelineSliceRow& slice) {
  constexpr int64_t kMostOpenTime = 4'000'000'000'000'000'000;
  const int64_t start = row.Int(kNvtxStart);
  if (start <= -kMostOpenTime || start >= kMostOpenTime) return false;
  ++rows.notes().events;
  slice = rows.NewRow<TimelineSliceRow>();
  slice.start_ns = start;
  slice.duration_ns = 0;
  return true;
}

void AddNvtx(const SqliteScan& row, EventRows& rows) {
  const int64_t type = row.Int(kNvtxType, 0), thread = row.Int(kNvtxThread, 0);
  const bool is_mark = IsMark(type);
  if (!is_mark && !IsPushPop(type) && !IsStartEnd(type)) return;
  if (!rows.Takes(thread)) return;
  TimelineSliceRow slice;
  const bool has_end = !row.IsNull(kNvtxEnd);
  if (!(has_end ? rows.StartSlice(row, slice) : StartOpen(row, rows, slice))) return;
  // Views of text hold until the next one is asked for.
  const std::string text(TextOf(row, kNvtxText, kNvtxTextId, rows));
  const NvtxText told = ReadNvtxText(text);
  rows.SetKind(told.is_op ? "cpu_op" : "user_annotation", slice);
  if (is_mark) slice.kind = rows.Intern(timeline::kInstant);
  slice.track = IsStartEnd(type) ? rows.RangeTrack(thread) : rows.ThreadTrack(thread);
  slice.name = rows.Intern(told.name);
  const bool is_open = !has_end && !is_mark;
  const int32_t number = is_open ? rows.writer().AddBegin(slice) : rows.writer().AddSlice(slice);
  if (is_mark) return;
  if (told.is_op) AddOp(told, number, rows);
  if (IsNcclRange(rows.Domain(thread, row.Int(kNvtxDomain, 0)), told.name))
    AddNcclCall(row, told.name, number, rows);
}

}  // namespace

std::span<const EventTable> NvtxTables() {
  static constexpr std::array<EventTable, 1> kTables = {{{"NVTX_EVENTS", kNvtxColumns, AddNvtx}}};
  return kTables;
}

}  // namespace debrief::inputs::nsys
