#include "inputs/memory_snapshot/snapshot_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "tables/memory_annotation.h"

namespace debrief::inputs::memory_snapshot {

namespace {

// Settings are the only dicts that are looked at later. More than this many unknown dicts are no
// settings, and keeping them would make the tree that is not to be.
constexpr size_t kMaxKeptDicts = 1024;

PickleValue Folded(Tag tag, int64_t number = 0) { return PickleValue::Folded(tag, number); }

// The innermost line of the program that generated code was made from:
//
//   File "/home/user/model.py", line 30, in forward
//     x = self.relu(x)
struct OriginalLine {
  std::string_view file, function;
  int32_t line = 0;
};
std::optional<OriginalLine> InnermostOf(std::string_view trace) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ", kIn = ", in ";
  const size_t begin = trace.rfind(kFile);
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view rest = trace.substr(begin + kFile.size());
  const size_t end = rest.find(kLine);
  if (end == std::string_view::npos) return std::nullopt;
  OriginalLine original{.file = rest.substr(0, end)};
  rest.remove_prefix(end + kLine.size());
  const auto [behind, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), original.line);
  if (error != std::errc()) return std::nullopt;
  rest.remove_prefix(static_cast<size_t>(behind - rest.data()));
  if (rest.starts_with(kIn)) {
    rest.remove_prefix(kIn.size());
    original.function = rest.substr(0, rest.find('\n'));
  }
  return original;
}

}  // namespace

Field FieldOf(std::string_view key) {
  // In the order of Field.
  // clang-format off
  static constexpr std::array<std::string_view, static_cast<size_t>(Field::kCount)> kKeys = {
      "",
      "segments", "device_traces", "allocator_settings", "external_annotations",
      "device", "address", "total_size", "allocated_size", "active_size", "requested_size",
      "stream", "segment_type", "segment_pool_id", "is_expandable", "blocks", "frames",
      "size", "state", "history",
      "real_size",
      "action", "addr", "device_free", "time_us", "compile_context", "user_metadata",
      "name", "filename", "line", "fx_original_trace",
      "stage"};
  // clang-format on
  const auto found = std::find(kKeys.begin() + 1, kKeys.end(), key);
  return found == kKeys.end() ? Field::kOther : static_cast<Field>(found - kKeys.begin());
}

bool SnapshotBuilder::Fold(PickleKind kind, std::span<const PickleValue> items,
                           PickleValue& folded) {
  if (kind == PickleKind::kDict) return FoldDict(items, folded);
  folded = kind == PickleKind::kTuple ? FoldPool(items) : FoldList(items);
  return true;
}

bool SnapshotBuilder::FoldPiece(std::span<const PickleValue> items, PickleValue& folded) {
  Rows rows;
  if (FoldRows(items, kEvent, kEventPiece, rows)) {
    folded = Folded(kEventPiece, rows.Packed());
  } else if (FoldRows(items, kBlock, kBlockPiece, rows)) {
    folded = Folded(kBlockPiece, rows.Packed());
  } else {
    return false;
  }
  return true;
}

bool SnapshotBuilder::FoldDict(std::span<const PickleValue> items, PickleValue& folded) {
  Gather(items);
  if (Has(Field::kAction)) {
    folded = FoldEvent();
  } else if (Has(Field::kFilename)) {
    folded = FoldFrame();
  } else if (Has(Field::kBlocks) || Has(Field::kTotalSize)) {
    folded = FoldSegment();
  } else if (Has(Field::kState)) {
    folded = FoldBlock();
  } else if (Has(Field::kRealSize)) {
    folded = FoldHistory();
  } else if (Has(Field::kStage)) {
    folded = FoldAnnotation();
  } else if (Has(Field::kSegments) || Has(Field::kDeviceTraces)) {
    AddSettings(At(Field::kSettings), StringId::kNone);
    folded = Folded(kSnapshot);
  } else if (kept_dicts_ < kMaxKeptDicts) {
    ++kept_dicts_;
    return false;
  } else {
    folded = Folded(kOther);
  }
  return true;
}

// Lists are of one kind of thing.
PickleValue SnapshotBuilder::FoldList(std::span<const PickleValue> items) {
  if (items.empty()) return Folded(kEmpty);
  Rows rows;
  if (Is(items[0], kFrame)) return FoldFrames(items);
  if (FoldRows(items, kEvent, kEventPiece, rows)) {
    traces_.push_back(rows);
    return Folded(kEvents, rows.Packed());
  }
  if (FoldRows(items, kBlock, kBlockPiece, rows)) return Folded(kBlocks, rows.Packed());
  if (Is(items[0], kHistory)) return Folded(kHistories, items[0].number);
  bool has_events =
      std::any_of(items.begin(), items.end(), [](PickleValue item) { return Is(item, kEvents); });
  if (has_events) return FoldTraces(items);
  bool is_odd = IsOf(items[0], kEvent, kEventPiece) || IsOf(items[0], kBlock, kBlockPiece);
  odd_lists_ += is_odd ? 1 : 0;
  return Folded(kOther);
}

// True when `items` are rows one behind the other, each alone or in pieces; only a hostile file
// puts the same one into two lists.
bool SnapshotBuilder::FoldRows(std::span<const PickleValue> items, Tag one, Tag piece, Rows& rows) {
  for (PickleValue item : items) {
    if (!IsOf(item, one, piece)) return false;
    Rows next = Is(item, piece) ? Rows::Of(item) : Rows{static_cast<size_t>(item.number), 1};
    if (rows.count == 0) rows.first = next.first;
    if (next.first != rows.first + rows.count) return false;
    rows.count += next.count;
  }
  return rows.count > 0;
}

PickleValue SnapshotBuilder::FoldFrame() {
  Frame frame;
  frame.file = Text(Field::kFilename);
  frame.function = Text(Field::kName);
  int32_t line = Number32(Field::kLine);
  frame.line = line == kNone32 ? 0 : line;
  // Of code that torch.compile wrote, the line that it was made from says more.
  if (HasText(Field::kOriginalTrace)) {
    if (const auto original = InnermostOf(reader_.Text(At(Field::kOriginalTrace)))) {
      frame.file = part_.pools.Intern(original->file);
      frame.function = part_.pools.Intern(original->function);
      frame.line = original->line;
    }
  }
  return Folded(kFrame, static_cast<int64_t>(part_.pools.AddFrame(frame)));
}

PickleValue SnapshotBuilder::FoldFrames(std::span<const PickleValue> items) {
  frames_.clear();
  for (PickleValue item : items) {
    if (Is(item, kFrame)) frames_.push_back(static_cast<FrameId>(item.number));
  }
  return Folded(kStack, static_cast<int64_t>(part_.pools.AddStack(frames_)));
}

PickleValue SnapshotBuilder::FoldPool(std::span<const PickleValue> items) {
  bool is_pool =
      items.size() == 2 && items[0].is(PickleKind::kInt) && items[1].is(PickleKind::kInt);
  if (!is_pool) return Folded(kOther);
  StringId name = part_.pools.Intern(fmt::format("({}, {})", items[0].number, items[1].number));
  return Folded(kPool, static_cast<int64_t>(name));
}

PickleValue SnapshotBuilder::FoldHistory() {
  histories_.push_back({Number(Field::kRealSize), Stack(Field::kFrames)});
  return Folded(kHistory, static_cast<int64_t>(histories_.size() - 1));
}

PickleValue SnapshotBuilder::FoldBlock() {
  auto row = NewRow<MemoryBlockRow>();
  row.address = Number(Field::kAddress);
  row.bytes = Number(Field::kSize);
  row.requested_bytes = Number(Field::kRequestedSize);
  row.state = Text(Field::kState);
  row.stack = Stack(Field::kFrames);
  if (PickleValue list = At(Field::kHistory); Is(list, kHistories)) {
    const History& history = histories_[static_cast<size_t>(list.number)];
    if (row.requested_bytes == kNone64) row.requested_bytes = history.requested_bytes;
    if (row.stack == StackId::kNone) row.stack = history.stack;
  }
  blocks_.Add(row);
  return Folded(kBlock, static_cast<int64_t>(blocks_.size() - 1));
}

PickleValue SnapshotBuilder::FoldSegment() {
  auto row = NewRow<MemorySegmentRow>();
  row.segment = static_cast<int32_t>(segments_.size());
  row.device = Number32(Field::kDevice);
  row.address = Number(Field::kAddress);
  row.bytes = Number(Field::kTotalSize);
  row.allocated_bytes = Number(Field::kAllocatedSize);
  row.active_bytes = Number(Field::kActiveSize);
  row.requested_bytes = Number(Field::kRequestedSize);
  row.stream = Number(Field::kStream);
  row.segment_type = Text(Field::kSegmentType);
  if (Is(At(Field::kPoolId), kPool)) row.pool = static_cast<StringId>(At(Field::kPoolId).number);
  row.expandable = IsTrue(Field::kExpandable);
  row.stack = Stack(Field::kFrames);
  segments_.Add(row);
  OwnBlocks(At(Field::kBlocks), row);
  return Folded(kRow);
}

// Old snapshots do not tell where a block begins: behind the one before.
void SnapshotBuilder::OwnBlocks(PickleValue blocks, const MemorySegmentRow& segment) {
  if (!Is(blocks, kBlocks)) return;
  Rows rows = Rows::Of(blocks);
  int64_t next = segment.address;
  for (size_t i = rows.first; i < rows.first + rows.count; ++i) {
    blocks_.segment[i] = segment.segment;
    blocks_.device[i] = segment.device;
    if (blocks_.address[i] == kNone64) blocks_.address[i] = next;
    bool is_known = blocks_.address[i] != kNone64 && blocks_.bytes[i] != kNone64;
    if (!is_known || __builtin_add_overflow(blocks_.address[i], blocks_.bytes[i], &next))
      next = kNone64;
  }
}

PickleValue SnapshotBuilder::FoldEvent() {
  auto row = NewRow<MemoryEventRow>();
  row.time_ns = Time(Field::kTimeUs);
  row.action = Text(Field::kAction);
  row.address = Number(Field::kAddr);
  row.bytes = Number(Field::kSize);
  row.device_free_bytes = Number(Field::kDeviceFree);
  row.stream = Number(Field::kStream);
  row.stack = Stack(Field::kFrames);
  if (HasText(Field::kCompileContext) && reader_.Text(At(Field::kCompileContext)) != "N/A")
    row.compile_context = Text(Field::kCompileContext);
  if (HasText(Field::kUserMetadata) && !reader_.Text(At(Field::kUserMetadata)).empty())
    row.user_metadata = Text(Field::kUserMetadata);
  events_.Add(row);
  return Folded(kEvent, static_cast<int64_t>(events_.size() - 1));
}

PickleValue SnapshotBuilder::FoldAnnotation() {
  auto row = NewRow<MemoryAnnotationRow>();
  row.device = Number32(Field::kDevice);
  row.time_ns = Time(Field::kTimeUs);
  row.stage = Text(Field::kStage);
  row.name = Text(Field::kName);
  part_.tables.Edit<MemoryAnnotationTable>().Add(row);
  return Folded(kRow);
}

// One list per device, most of them empty: a process sees all devices and uses one.
PickleValue SnapshotBuilder::FoldTraces(std::span<const PickleValue> items) {
  for (size_t device = 0; device < items.size(); ++device) {
    if (!Is(items[device], kEvents)) continue;
    Rows rows = Rows::Of(items[device]);
    SetDevice(rows, static_cast<int32_t>(device));
  }
  traces_.clear();
  return Folded(kTraces);
}

void SnapshotBuilder::SetDevice(Rows rows, int32_t device) {
  for (size_t i = rows.first; i < rows.first + rows.count; ++i) events_.device[i] = device;
}

int32_t SnapshotBuilder::Number32(Field field) const {
  int64_t number = Number(field);
  return number == static_cast<int32_t>(number) ? static_cast<int32_t>(number) : kNone32;
}

// Microseconds as nanoseconds; none for what does not fit.
int64_t SnapshotBuilder::Time(Field field) const {
  int64_t time_ns = kNone64;
  int64_t micros = Number(field);
  if (micros == kNone64 || __builtin_mul_overflow(micros, 1000, &time_ns)) return kNone64;
  return time_ns;
}

}  // namespace debrief::inputs::memory_snapshot
