#include "inputs/trace_event_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include "model/accel/flex_slices.h"
#include "model/trace_events/diagnostics.h"
#include "model/trace_events/facts.h"
#include "tables/accel_stamp.h"
#include "tables/timeline.h"

namespace debrief {

namespace {

using namespace trace_events;  // NOLINT: what the parser of one event has

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

// Rows by what namings call them, so that a naming costs no more than the rows it names.
class Namer {
 public:
  explicit Namer(Part& whole)
      : whole_(whole),
        processes_(whole.tables.Edit<TimelineProcessTable>()),
        tracks_(whole.tables.Edit<TimelineTrackTable>()) {
    for (size_t row = 0; row < processes_.size(); ++row)
      process_of_.emplace(processes_.pid[row], static_cast<int32_t>(row));
    for (size_t row = 0; row < tracks_.size(); ++row)
      tracks_of_.emplace(Key(tracks_.process[row], tracks_.tid[row]), row);
  }

  void Apply(const Naming& naming) {
    auto process = process_of_.find(whole_.pools.Intern(naming.pid));
    if (process == process_of_.end()) return;
    if (naming.is_process) return Name(naming, static_cast<size_t>(process->second), processes_);
    StringId tid = whole_.pools.Intern(naming.tid);
    auto [begin, end] = tracks_of_.equal_range(Key(process->second, tid));
    for (auto track = begin; track != end; ++track) Name(naming, track->second, tracks_);
  }

 private:
  static uint64_t Key(int32_t process, StringId tid) {
    return uint64_t{static_cast<uint32_t>(process)} << 32 | static_cast<uint32_t>(tid);
  }

  template <typename Table>
  void Name(const Naming& naming, size_t row, Table& table) {
    if (!naming.name.empty()) table.name[row] = whole_.pools.Intern(naming.name);
    if (naming.sort_index != kNone64) table.sort_index[row] = Sortable(naming.sort_index);
    if constexpr (std::is_same_v<Table, TimelineProcessTable>) {
      if (!naming.labels.empty()) table.labels[row] = whole_.pools.Intern(naming.labels);
    }
  }

  Part& whole_;
  TimelineProcessTable& processes_;
  TimelineTrackTable& tracks_;
  std::unordered_map<StringId, int32_t> process_of_;     // by pid
  std::unordered_multimap<uint64_t, size_t> tracks_of_;  // by process and tid
};

// The events of one range, as rows of its part.
class RangeSink {
 public:
  RangeSink(const Identity& who, bool keeps_args, Part& part)
      : who_(who), keeps_args_(keeps_args), part_(part) {
    Restart();
  }

  Status Add(JsonValue event, uint64_t offset) { return parser_->Add(event, offset); }
  void Restart() {
    part_ = Part();
    parser_.emplace(who_, part_, keeps_args_);
  }
  void Repaired(uint64_t offset) {
    if (notes().repaired_at == kNone64) notes().repaired_at = static_cast<int64_t>(offset);
  }
  void AddBroken(std::string_view text, uint64_t offset) {
    part_.diagnostics.Add(
        kBadEvent, who_.input,
        {.offset = static_cast<int64_t>(offset), .detail = std::string(text.substr(0, 120))});
    ++notes().events;
  }

 private:
  RangeNotes& notes() { return static_cast<RangeNotes&>(*part_.notes); }

  Identity who_;
  bool keeps_args_;
  Part& part_;
  std::optional<EventParser> parser_;
};

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
  RangeSink sink(who_, keeps_args_, part);
  ReadEvents(bytes.text(), range.begin, sink);
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
  Namer namer(whole);
  for (const Naming& naming : notes_.namings) namer.Apply(naming);
  AddFactRows(found_.members, who_, whole);
  FillTimeline(facts, whole);
  return {};
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

}  // namespace debrief
