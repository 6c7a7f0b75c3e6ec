// Trace Event Format: PyTorch (Kineto) profiles and anything else that chrome://tracing opens.
// docs/formats/chrome_trace.md
//
//   {"schemaVersion": 1, "deviceProperties": [...], "traceEvents": [{"ph": "X", ...}, ...],
//    "baseTimeNanoseconds": 1790857026000000000}          or only   [{"ph": "X", ...}, ...
//
// Split finds events to cut at (event_ranges.h), Read parses a batch of them into timeline tables
// (event.h), Finish sorts and nests the slices (model/timeline/writer.h). A batch with broken JSON
// is read event by event, and only the broken one is lost.
#include "inputs/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_cursor.h"
#include "inputs/chrome_trace/diagnostics.h"
#include "inputs/chrome_trace/event.h"
#include "inputs/chrome_trace/event_ranges.h"
#include "inputs/chrome_trace/facts.h"
#include "inputs/sniffing.h"
#include "tables/timeline.h"

namespace debrief::inputs::chrome_trace {

namespace {

constexpr std::string_view kTables[] = {
    "timeline",        "timeline_collective",  "timeline_counter",
    "timeline_device", "timeline_device_work", "timeline_fact",
    "timeline_flow",   "timeline_group",       "timeline_memory",
    "timeline_op",     "timeline_process",     "timeline_slice",
    "timeline_track"};

int64_t FirstTime(const JsonOutline& json) {
  auto text = json.Scalar(json.is_array() ? "[].ts" : "traceEvents[].ts");
  if (!text) return kNone64;
  auto micros = NumberAt(*text, 0);
  return micros ? UnixMicrosToNs(*micros) : kNone64;
}

Recognition Sniff(const SniffInput& input) {
  Recognition found;
  found.mine = LooksLikeTraceEvents(input) && !HasCycleStamps(input);
  if (!found.mine) return found;
  found.rank = RankOrNone(input.json->Integer("distributedInfo.rank"));
  found.world_size = RankOrNone(input.json->Integer("distributedInfo.world_size"));
  found.start_ns = FirstTime(*input.json);
  return found;
}

// Events with commas between them, without what stands behind the last.
std::string_view TrimEvents(std::string_view text) {
  while (!text.empty() && (text.back() <= ' ' || text.back() == ',')) text.remove_suffix(1);
  return text;
}

class TraceReader final : public Reader {
 public:
  explicit TraceReader(const ImportContext& context)
      : who_(context.who), chunk_bytes_(context.chunk_bytes), joiner_(context.who) {}

  Result<std::vector<ByteRange>> Split(const Source& source) override {
    ASSIGN_OR_RETURN(found_, FindEventRanges(source, chunk_bytes_));
    return found_.ranges;
  }

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    ASSIGN_OR_RETURN(ByteView bytes, source.View(range.begin, range.size()));
    std::string_view text = TrimEvents(bytes.text());
    if (text.empty() || ReadEvents(text, range.begin, part).ok()) return {};
    part = Part();
    ReadOneByOne(text, range.begin, part);
    return {};
  }

  Status Merge(Part&& part, Part& whole) override {
    TakeNotes(part, notes_);
    joiner_.Merge(std::move(part), whole);
    return {};
  }

  Status Finish(Part& whole) override {
    if (!found_.found) {
      whole.diagnostics.Add(kNoEvents, who_.input, {.offset = 0});
      return {};
    }
    TraceFacts facts = ReadFacts(found_.members);
    timeline::FileFacts file{.producer = facts.is_kineto ? "kineto" : "chrome",
                             .base_ns = facts.base_ns,
                             .events = notes_.events,
                             .repeated_flows = notes_.repeated_flows};
    file.lost = CountOf(whole.diagnostics, kBadEvent) + CountOf(whole.diagnostics, kNoTime);
    ReportTrouble(joiner_.Finish(file, whole), whole);
    NameAll(whole);
    AddFactRows(found_.members, who_, whole);
    FillTimeline(facts, whole);
    return {};
  }

 private:
  // A Status when the JSON is broken somewhere in `text`.
  Status ReadEvents(std::string_view text, uint64_t offset, Part& part) const {
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
  void ReadOneByOne(std::string_view text, uint64_t offset, Part& part) const {
    auto notes = std::make_unique<RangeNotes>();
    timeline::TimelineJoiner joiner(who_);
    for (size_t at = SkipSeparators(text, 0); at < text.size();) {
      size_t end = EndOfEvent(text, at);
      Part event;
      std::string_view one = TrimEvents(text.substr(at, end - at));
      Status status = ReadEvents(one, offset + at, event);
      if (!status.ok()) {
        event = Part();
        event.diagnostics.Add(kBadEvent, who_.input,
                              {.offset = static_cast<int64_t>(offset + at),
                               .detail = std::string(one.substr(0, 120))});
        ++notes->events;
      }
      TakeNotes(event, *notes);
      joiner.Merge(std::move(event), part);
      at = SkipSeparators(text, end);
    }
    part.notes = std::move(notes);
  }

  // Behind the event that begins at `at`; a broken one ends where the next begins.
  static size_t EndOfEvent(std::string_view text, size_t at) {
    size_t next = std::min(text.size(), FindEvent(text, at + 1, '\0'));
    size_t end = ObjectEnd(text, at);
    return end < next ? end : next;
  }

  static size_t SkipSeparators(std::string_view text, size_t at) {
    while (at < text.size() && (text[at] <= ' ' || text[at] == ',')) ++at;
    return at;
  }

  static void TakeNotes(Part& part, RangeNotes& notes) {
    if (part.notes == nullptr) return;
    notes.Take(std::move(static_cast<RangeNotes&>(*part.notes)));
    part.notes.reset();
  }

  static int64_t CountOf(const Diagnostics& diagnostics, const DiagnosticKind& kind) {
    int64_t count = 0;
    for (const Diagnostic& each : diagnostics.all()) {
      if (each.kind == &kind) count += each.count;
    }
    return count;
  }

  void ReportTrouble(const timeline::EdgeCounts& edges, Part& whole) const {
    // Without its closing bracket a bare array is complete: the format allows it.
    if (!found_.closed && !found_.is_bare) {
      whole.diagnostics.Add(kTruncated, who_.input,
                            {.offset = static_cast<int64_t>(found_.end),
                             .detail = fmt::format("{} whole events", notes_.events)});
    }
    if (notes_.repaired_at != kNone64)
      whole.diagnostics.Add(kRepaired, who_.input, {.offset = notes_.repaired_at});
    if (edges.never_ended > 0)
      whole.diagnostics.AddMany(kNeverEnded, who_.input, edges.never_ended);
    if (edges.never_begun > 0)
      whole.diagnostics.AddMany(kNeverBegun, who_.input, edges.never_begun);
  }

  void NameAll(Part& whole) const {
    for (const Naming& naming : notes_.namings) {
      naming.is_process ? NameProcess(naming, whole) : NameTracks(naming, whole);
    }
  }

  static void NameProcess(const Naming& naming, Part& whole) {
    auto& table = whole.tables.Edit<TimelineProcessTable>();
    StringId pid = whole.pools.Intern(naming.pid);
    for (size_t row = 0; row < table.size(); ++row) {
      if (table.pid[row] != pid) continue;
      if (!naming.name.empty()) table.name[row] = whole.pools.Intern(naming.name);
      if (!naming.labels.empty()) table.labels[row] = whole.pools.Intern(naming.labels);
      if (naming.sort_index != kNone64) table.sort_index[row] = Sortable(naming.sort_index);
    }
  }

  static void NameTracks(const Naming& naming, Part& whole) {
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

  static int32_t Sortable(int64_t index) {
    return static_cast<int32_t>(std::clamp<int64_t>(index, -1'000'000'000, 1'000'000'000));
  }

  static void FillTimeline(const TraceFacts& facts, Part& whole) {
    auto& table = whole.tables.Edit<TimelineTable>();
    if (!facts.backend.empty()) table.backend.back() = whole.pools.Intern(facts.backend);
    if (facts.world_size > 0 && facts.world_size < (1 << 30))
      table.world_size.back() = static_cast<int32_t>(facts.world_size);
    table.has_shapes.back() = facts.has_shapes;
    table.has_stacks.back() = facts.has_stacks;
    table.has_memory.back() = facts.has_memory;
  }

  Identity who_;
  uint64_t chunk_bytes_;
  EventRanges found_;
  timeline::TimelineJoiner joiner_;
  RangeNotes notes_;
};

std::unique_ptr<Reader> Open(const ImportContext& context) {
  return std::make_unique<TraceReader>(context);
}

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "chrome_trace",
               .sentence =
                   "profiler timeline: PyTorch (Kineto) or any other Trace Event Format JSON",
               .example = "rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
               .makes = kTables},
      .sniff = Sniff,
      .open = Open};
  return kImporter;
}

}  // namespace debrief::inputs::chrome_trace
