#include "inputs/trace_event_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/cursor.h"
#include "model/accel/flex_slices.h"
#include "model/trace_events/diagnostics.h"
#include "model/trace_events/facts.h"
#include "tables/accel_stamp.h"
#include "tables/timeline.h"

namespace debrief {

namespace {

using namespace trace_events;  // NOLINT: what the parser of one event has

// Events with commas between them, without what stands behind the last.
std::string_view TrimEvents(std::string_view text) {
  while (!text.empty() && (text.back() <= ' ' || text.back() == ',')) text.remove_suffix(1);
  return text;
}

// Behind the event that begins at `at`; a broken one ends where the next begins.
size_t EndOfEvent(std::string_view text, size_t at) {
  size_t next = std::min(text.size(), FindEvent(text, at + 1, '\0'));
  size_t end = ObjectEnd(text, at);
  return end < next ? end : next;
}

size_t SkipSeparators(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] <= ' ' || text[at] == ',')) ++at;
  return at;
}

void TakeNotes(Part& part, RangeNotes& notes) {
  if (part.notes == nullptr) return;
  notes.Take(std::move(static_cast<RangeNotes&>(*part.notes)));
  part.notes.reset();
}

int64_t CountOf(const Diagnostics& diagnostics, const DiagnosticKind& kind) {
  int64_t count = 0;
  for (const Diagnostic& each : diagnostics.all()) {
    if (each.kind == &kind) count += each.count;
  }
  return count;
}

int32_t Sortable(int64_t index) {
  return static_cast<int32_t>(std::clamp<int64_t>(index, -1'000'000'000, 1'000'000'000));
}

void NameProcess(const Naming& naming, Part& whole) {
  auto& table = whole.tables.Edit<TimelineProcessTable>();
  StringId pid = whole.pools.Intern(naming.pid);
  for (size_t row = 0; row < table.size(); ++row) {
    if (table.pid[row] != pid) continue;
    if (!naming.name.empty()) table.name[row] = whole.pools.Intern(naming.name);
    if (!naming.labels.empty()) table.labels[row] = whole.pools.Intern(naming.labels);
    if (naming.sort_index != kNone64) table.sort_index[row] = Sortable(naming.sort_index);
  }
}

void NameTracks(const Naming& naming, Part& whole) {
  auto& table = whole.tables.Edit<TimelineTrackTable>();
  const auto& processes = whole.tables.Get<TimelineProcessTable>();
  StringId pid = whole.pools.Intern(naming.pid);
  StringId tid = whole.pools.Intern(naming.tid);
  for (size_t row = 0; row < table.size(); ++row) {
    if (table.tid[row] != tid || processes.pid[static_cast<size_t>(table.process[row])] != pid)
      continue;
    if (!naming.name.empty()) table.name[row] = whole.pools.Intern(naming.name);
    if (naming.sort_index != kNone64) table.sort_index[row] = Sortable(naming.sort_index);
  }
}

void FillTimeline(const TraceFacts& facts, Part& whole) {
  auto& table = whole.tables.Edit<TimelineTable>();
  if (!facts.backend.empty()) table.backend.back() = whole.pools.Intern(facts.backend);
  if (facts.world_size > 0 && facts.world_size < (1 << 30))
    table.world_size.back() = static_cast<int32_t>(facts.world_size);
  table.has_shapes.back() = facts.has_shapes;
  table.has_stacks.back() = facts.has_stacks;
  table.has_memory.back() = facts.has_memory;
}

}  // namespace

Result<std::vector<ByteRange>> TraceEventReader::Split(const Source& source) {
  ASSIGN_OR_RETURN(found_, FindEventRanges(source, chunk_bytes_));
  return found_.ranges;
}

Status TraceEventReader::Read(const Source& source, ByteRange range, Part& part) const {
  ASSIGN_OR_RETURN(ByteView bytes, source.View(range.begin, range.size()));
  std::string_view text = TrimEvents(bytes.text());
  if (text.empty() || ReadEvents(text, range.begin, part).ok()) return {};
  part = Part();
  ReadOneByOne(text, range.begin, part);
  return {};
}

Status TraceEventReader::Merge(Part&& part, Part& whole) {
  TakeNotes(part, notes_);
  joiner_.Merge(std::move(part), whole);
  return {};
}

Status TraceEventReader::Finish(Part& whole) {
  if (!found_.found) {
    whole.diagnostics.Add(kNoEvents, who_.input, {.offset = 0});
    return {};
  }
  TraceFacts facts = ReadFacts(found_.members);
  // Kineto's times are those of the host already.
  bool is_flex = !facts.is_kineto && whole.tables.Get<AccelStampTable>().size() > 0;
  timeline::FileFacts file{.producer = facts.is_kineto ? "kineto"
                                       : is_flex       ? "flex"
                                                       : "chrome",
                           .base_ns = facts.base_ns,
                           .events = notes_.events,
                           .repeated_flows = notes_.repeated_flows};
  file.lost = CountOf(whole.diagnostics, kBadEvent) + CountOf(whole.diagnostics, kNoTime);
  auto adjust = [&](Part& part, const timeline::EdgeCounts& edges) {
    if (is_flex) accel::ArrangeFlexSlices(who_, edges.open_slices, part);
  };
  ReportTrouble(joiner_.Finish(file, whole, adjust), whole);
  NameAll(whole);
  AddFactRows(found_.members, who_, whole);
  FillTimeline(facts, whole);
  return {};
}

// A Status when the JSON is broken somewhere in `text`.
Status TraceEventReader::ReadEvents(std::string_view text, uint64_t offset, Part& part) const {
  // Kept by the thread: its tables for a batch are several times the batch.
  static thread_local JsonReader reader;
  TRY(reader.OpenElements(text));
  EventParser parser(who_, offset, part);
  TRY(reader.root().ForEachElement([&](JsonValue element) { return parser.Add(element); }));
  if (reader.repaired())
    static_cast<RangeNotes&>(*part.notes).repaired_at = static_cast<int64_t>(offset);
  return {};
}

// The slow way, for a batch with a broken event: from one that begins to the next. Only the
// broken one is lost, and the result does not depend on how the file was cut into batches.
void TraceEventReader::ReadOneByOne(std::string_view text, uint64_t offset, Part& part) const {
  auto notes = std::make_unique<RangeNotes>();
  timeline::TimelineJoiner joiner(who_);
  for (size_t at = SkipSeparators(text, 0); at < text.size();) {
    size_t end = EndOfEvent(text, at);
    Part event;
    std::string_view one = TrimEvents(text.substr(at, end - at));
    Status status = ReadEvents(one, offset + at, event);
    if (!status.ok()) {
      event = Part();
      event.diagnostics.Add(
          kBadEvent, who_.input,
          {.offset = static_cast<int64_t>(offset + at), .detail = std::string(one.substr(0, 120))});
      ++notes->events;
    }
    TakeNotes(event, *notes);
    joiner.Merge(std::move(event), part);
    at = SkipSeparators(text, end);
  }
  part.notes = std::move(notes);
}

void TraceEventReader::ReportTrouble(const timeline::EdgeCounts& edges, Part& whole) const {
  // Without its closing bracket a bare array is complete: the format allows it.
  if (!found_.closed && !found_.is_bare) {
    whole.diagnostics.Add(kTruncated, who_.input,
                          {.offset = static_cast<int64_t>(found_.end),
                           .detail = fmt::format("{} whole events", notes_.events)});
  }
  if (notes_.repaired_at != kNone64)
    whole.diagnostics.Add(kRepaired, who_.input, {.offset = notes_.repaired_at});
  if (edges.reversed > 0) whole.diagnostics.AddMany(kBadDuration, who_.input, edges.reversed);
  if (edges.never_ended > 0) whole.diagnostics.AddMany(kNeverEnded, who_.input, edges.never_ended);
  if (edges.never_begun > 0) whole.diagnostics.AddMany(kNeverBegun, who_.input, edges.never_begun);
}

void TraceEventReader::NameAll(Part& whole) const {
  for (const Naming& naming : notes_.namings) {
    naming.is_process ? NameProcess(naming, whole) : NameTracks(naming, whole);
  }
}

}  // namespace debrief
