// The end of a snapshot: settings, the row of the snapshot itself, and what can be said when the
// end is missing.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "inputs/memory_snapshot/snapshot_builder.h"
#include "tables/memory_setting.h"
#include "tables/memory_snapshot.h"

namespace debrief::inputs::memory_snapshot {

namespace {

constexpr DiagnosticKind kTruncated = {
    "memory_snapshot.truncated", Severity::kError,
    "the snapshot ends too early; whole blocks and trace entries are kept",
    "The process was killed while dumping, or the copy is incomplete; copy the file again."};
constexpr DiagnosticKind kCorrupt = {
    "memory_snapshot.corrupt", Severity::kError,
    "the snapshot is broken from here on; whole blocks and trace entries before are kept",
    "Copy the file again and compare its size with the original."};
constexpr DiagnosticKind kUnsafe = {
    "memory_snapshot.unsafe", Severity::kError,
    "the pickle asks to run code; nothing of it was run, reading stopped, and what was whole "
    "before "
    "is kept",
    "PyTorch's snapshots have no such opcode: the file is damaged, or someone else made it."};
constexpr DiagnosticKind kNoTrace = {
    "memory_snapshot.no_trace", Severity::kInfo,
    "the snapshot has no trace of allocations: what lived at the peak is not known",
    "Call torch.cuda.memory._record_memory_history() at the start of the program."};
constexpr DiagnosticKind kOddRows = {
    "memory_snapshot.odd_rows", Severity::kWarning,
    "a block or trace entry stands where none should; it belongs to no segment or device",
    "PyTorch writes no such snapshot; find out who made this file."};

}  // namespace

Status SnapshotBuilder::Read() {
  Status status = reader_.Run();
  bool is_damaged = status.code() == Code::kTruncated || status.code() == Code::kInvalid ||
                    status.code() == Code::kLimit || status.code() == Code::kUnsupported;
  if (is_damaged) Report(status);
  GuessDevices();
  AddSnapshot(status.ok());
  return is_damaged ? Status() : status;
}

// A flipped bit may make an opcode that carries code, so that is no reason to drop what was read:
// rows are numbers and texts, whoever wrote them.
void SnapshotBuilder::Report(const Status& status) {
  const DiagnosticKind& kind = status.code() == Code::kTruncated     ? kTruncated
                               : status.code() == Code::kUnsupported ? kUnsafe
                                                                     : kCorrupt;
  part_.diagnostics.Add(
      kind, who_.input,
      {.offset = status.place().offset,
       .detail = fmt::format("{}; kept: {} segments, {} blocks, {} trace entries", status.message(),
                             segments_.size(), blocks_.size(), events_.size())});
}

void SnapshotBuilder::AddSnapshot(bool whole) {
  auto row = NewRow<MemorySnapshotRow>();
  row.whole = whole;
  row.segments = static_cast<int32_t>(segments_.size());
  row.blocks = static_cast<int64_t>(blocks_.size());
  row.events = static_cast<int64_t>(events_.size());
  for (int64_t time : events_.time_ns) {
    if (time == kNone64) continue;
    row.first_ns = row.first_ns == kNone64 ? time : std::min(row.first_ns, time);
    row.last_ns = std::max(row.last_ns, time);
  }
  part_.tables.Edit<MemorySnapshotTable>().Add(row);
  if (whole && events_.size() == 0) part_.diagnostics.Add(kNoTrace, who_.input);
  if (odd_lists_ > 0) part_.diagnostics.Add(kOddRows, who_.input);
}

// A dict of settings; those within it that are dicts themselves once more, no deeper.
void SnapshotBuilder::AddSettings(PickleValue settings, StringId outer) {
  auto items = reader_.Items(settings);
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (!items[i].is(PickleKind::kString)) continue;
    StringId name = Text(items[i]);
    if (outer != StringId::kNone)
      name =
          part_.pools.Intern(fmt::format("{}.{}", part_.pools.Text(outer), part_.pools.Text(name)));
    if (items[i + 1].is(PickleKind::kDict)) {
      if (outer == StringId::kNone) AddSettings(items[i + 1], name);
      continue;
    }
    auto row = NewRow<MemorySettingRow>();
    row.name = name;
    row.value = SettingText(items[i + 1]);
    part_.tables.Edit<MemorySettingTable>().Add(row);
  }
}

StringId SnapshotBuilder::SettingText(PickleValue value) {
  if (value.is(PickleKind::kString)) return Text(value);
  if (value.is(PickleKind::kInt)) return part_.pools.Intern(fmt::to_string(value.number));
  if (value.is(PickleKind::kDouble)) return part_.pools.Intern(fmt::to_string(value.real));
  if (value.is(PickleKind::kBool)) return part_.pools.Intern(value.number ? "true" : "false");
  return StringId::kNone;
}

// Lists of entries whose position among all devices was lost with the end of the file: all entries
// of a list are of one device, and the segments, which come first, tell which device an address is
// of.
void SnapshotBuilder::GuessDevices() {
  bool is_open = events_.size() > 0 && events_.device.back() == kNone32;
  if (traces_.empty() && !is_open) return;
  std::vector<size_t> by_address;
  for (size_t i = 0; i < segments_.size(); ++i) {
    if (segments_.address[i] != kNone64 && segments_.bytes[i] > 0) by_address.push_back(i);
  }
  std::sort(by_address.begin(), by_address.end(),
            [&](size_t a, size_t b) { return segments_.address[a] < segments_.address[b]; });
  size_t done = 0;
  for (Rows rows : traces_) {
    GuessDevice(by_address, rows);
    done = rows.first + rows.count;
  }
  if (is_open && done < events_.size()) {
    while (done < events_.size() && events_.device[done] != kNone32) ++done;
    GuessDevice(by_address, {done, events_.size() - done});
  }
}

void SnapshotBuilder::GuessDevice(std::span<const size_t> by_address, Rows rows) {
  for (size_t i = rows.first; i < rows.first + rows.count; ++i) {
    int64_t address = events_.address[i];
    auto behind = std::upper_bound(
        by_address.begin(), by_address.end(), address,
        [&](int64_t at, size_t segment) { return at < segments_.address[segment]; });
    if (behind == by_address.begin()) continue;
    size_t segment = *(behind - 1);
    if (address - segments_.address[segment] >= segments_.bytes[segment]) continue;
    SetDevice(rows, segments_.device[segment]);
    return;
  }
}

}  // namespace debrief::inputs::memory_snapshot
