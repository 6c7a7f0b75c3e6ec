// Recordings (.dbr): what a program recorded of itself. docs/formats/recording.md
//
//   4 KiB header | 64 KiB chunk | 64 KiB chunk | ...
//
// Names may stand in any chunk, begins and ends in different ones: a recording is one range, read
// by one thread through a window of one chunk. A span costs 16 bytes until all are read, and its
// rows.
#include "inputs/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "inputs/recording/diagnostics.h"
#include "inputs/recording/row_builder.h"
#include "inputs/sniffing.h"
#include "model/model.h"
#include "model/recorded_ops.h"
#include "op_trace/span_pairing.h"
#include "op_trace/tick_clock.h"
#include "recorder/reader.h"
#include "tables/recorded_op.h"
#include "tables/recorded_op_note.h"
#include "tables/recording.h"
#include "tables/recording_loss.h"
#include "tables/recording_note.h"
#include "tables/timeline.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_track.h"

namespace debrief::inputs::recording {

namespace {

struct WholeRecording {
  const recorder::ReadRecording& read;
  const op_trace::TickClock& clock;
  const op_trace::SpanPairing& spans;
  const RowBuilder& rows;
};

// In the order of recorder::Problem.
constexpr const DiagnosticKind* kProblems[] = {&kNoHeader, &kOtherVersion, &kCutFile,
                                               &kBadChunk, &kBadHead,      &kBadRecord,
                                               &kBadText,  &kUnknownName,  &kUnreadable};

std::string_view ClockName(recorder::ClockKind kind) {
  if (kind == recorder::ClockKind::kTsc) return "tsc";
  return kind == recorder::ClockKind::kCntvct ? "cntvct" : "monotonic";
}

// A field of fixed size that need not end in a zero.
template <size_t kBytes>
std::string_view TextOf(const char (&field)[kBytes]) {
  return {field, strnlen(field, kBytes)};
}

// "4711 records, from 0.120 s to 2.310 s after the recording began"
std::string RangeText(int64_t records, int64_t from_ns, int64_t to_ns, int64_t start_ns) {
  const auto seconds = [&](int64_t time) { return static_cast<double>(time - start_ns) / 1e9; };
  return fmt::format("{} records, from {:.3f} s to {:.3f} s after the recording began", records,
                     seconds(from_ns), seconds(to_ns));
}

struct LossTable {
  const Identity& who;
  Part& part;
  int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;

  void Add(uint32_t tid, uint64_t records, int64_t from, int64_t to, std::string_view reason) {
    auto row = Part::RowOf<RecordingLossRow>(who);
    row.thread = tid;
    row.records = CountOf(records);
    row.from_ns = from;
    row.to_ns = std::max(from, to);
    row.reason = part.pools.Intern(reason);
    part.tables.Edit<RecordingLossTable>().Add(row);
    from_ns = std::min(from_ns, row.from_ns);
    to_ns = std::max(to_ns, row.to_ns);
  }

  void Report(const DiagnosticKind& kind, uint64_t records, int64_t start_ns) const {
    const std::string detail = from_ns > to_ns
                                   ? fmt::format("{} records", records)
                                   : RangeText(CountOf(records), from_ns, to_ns, start_ns);
    if (records > 0) part.diagnostics.Add(kind, who.input, {.detail = detail});
  }
};

void AddMany(const DiagnosticKind& kind, uint64_t count, const Identity& who, Part& part) {
  if (count > 0) part.diagnostics.AddMany(kind, who.input, CountOf(count));
}

// Bytes that do not fit the format.
void ReportProblems(const recorder::ReadRecording& read, const Identity& who, Part& part) {
  for (const recorder::ReaderProblem& each : read.problems) {
    part.diagnostics.Add(*kProblems[static_cast<size_t>(each.problem)], who.input,
                         {.offset = static_cast<int64_t>(each.offset)});
  }
}

void AddRecordingRow(const WholeRecording& whole, const Identity& who, Part& part) {
  const recorder::FileHeader& header = whole.read.header;
  auto row = Part::RowOf<RecordingRow>(who);
  row.pid = header.pid;
  if (header.parent_pid != 0) row.parent_pid = header.parent_pid;
  row.host = part.pools.InternOrNone(TextOf(header.host));
  row.boot_id = part.pools.InternOrNone(TextOf(header.boot_id));
  if (header.world_size > 0) row.world_size = header.world_size;
  row.clock = part.pools.Intern(ClockName(header.clock_kind));
  row.policy = part.pools.Intern(header.policy == recorder::Policy::kRing ? "ring" : "stop");
  row.start_ns = whole.clock.WallNs(header.opened.ticks);
  row.end_ns = std::max(row.start_ns, whole.clock.WallNs(whole.spans.last_ticks()));
  row.records = CountOf(whole.spans.records());
  row.overwritten = CountOf(header.overwritten);
  row.dropped = CountOf(whole.read.dropped);
  row.lost_names = CountOf(header.lost_names);
  row.closed = header.closed == recorder::kClosed;
  row.copied = header.closed == recorder::kCopied;
  if (header.stopped != 0)
    row.stopped_by = static_cast<int32_t>(std::min<uint64_t>(header.stopped, INT32_MAX));
  part.tables.Edit<RecordingTable>().Add(row);
}

void AddLosses(const WholeRecording& whole, const Identity& who, Part& part) {
  const int64_t start_ns = whole.clock.WallNs(whole.read.header.opened.ticks);
  LossTable overwritten{who, part};
  for (const RowBuilder::Loss& loss : whole.rows.losses())
    overwritten.Add(loss.tid, loss.records, whole.clock.WallNs(loss.from),
                    whole.clock.WallNs(loss.to), "overwritten");
  overwritten.Report(kOverwritten, whole.read.header.overwritten, start_ns);
  LossTable dropped{who, part};
  const int64_t end_ns = whole.clock.WallNs(whole.spans.last_ticks());
  for (const recorder::ChunkInfo& chunk : whole.read.chunks) {
    if (chunk.dropped == 0) continue;
    const uint64_t last = std::max(whole.rows.LastOf(chunk.tid), chunk.clock.ticks);
    dropped.Add(chunk.tid, chunk.dropped, whole.clock.WallNs(last), end_ns, "dropped");
  }
  dropped.Report(kDropped, whole.read.dropped, start_ns);
}

// Everything else that the user should know.
void ReportOddities(const WholeRecording& whole, const Identity& who, Part& part) {
  const recorder::FileHeader& header = whole.read.header;
  AddMany(kLostNames, header.lost_names, who, part);
  AddMany(kNeverBegun, whole.spans.ends_without_begin(), who, part);
  AddMany(kBackwards, whole.spans.spans_backwards(), who, part);
  AddMany(kClockContradicts, whole.clock.contradictions(), who, part);
  if (header.stopped != 0) {
    part.diagnostics.Add(
        kStopped, who.input,
        {.detail = fmt::format("error {} of the operating system", header.stopped)});
  }
  const bool is_ended = header.closed == recorder::kClosed || header.closed == recorder::kCopied;
  if (!is_ended) part.diagnostics.Add(kNeverClosed, who.input);
  if (const int64_t step = whole.clock.wall_step_ns(); step != 0) {
    part.diagnostics.Add(kWallClockSet, who.input,
                         {.detail = fmt::format("by {:.3f} s", static_cast<double>(step) / 1e9)});
  }
}

constexpr std::string_view kMakes[] = {
    "recording",        "recording_loss",  "recording_note",  "recorded_op", "timeline",
    "timeline_process", "timeline_track",  "timeline_slice",  "timeline_op", "timeline_counter",
    "timeline_flow",    "timeline_memory", "recorded_op_note"};

Recognition Sniff(const SniffInput& input) {
  recorder::FileHeader header = {};
  std::memcpy(&header, input.head.data(), std::min(sizeof header, input.head.size()));
  if (header.magic != recorder::kFileMagic) return {};
  Recognition found = {.mine = true};
  if (input.head.size() < sizeof header || header.version != recorder::kVersion) return found;
  found.rank = RankOrNone(header.rank);
  if (header.world_size > 0) found.world_size = RankOrNone(header.world_size);
  found.start_ns = static_cast<int64_t>(std::min<uint64_t>(header.opened.realtime_ns, INT64_MAX));
  found.host = std::string(header.host, strnlen(header.host, sizeof header.host));
  return found;
}

// Row of the op that a slice is; none for marks.
int64_t OpOf(const TimelineSliceTable& slices, size_t slice) {
  const int64_t id = slices.external_id[slice];
  return id == kNone64 ? kNone64 : id - 1;
}

// Rows of recorded_op of each thread, in order of begin.
std::map<int64_t, std::vector<size_t>> OpsByThread(const RecordedOpTable& ops) {
  std::map<int64_t, std::vector<size_t>> threads;
  for (size_t row = 0; row < ops.size(); ++row) threads[ops.thread[row]].push_back(row);
  return threads;
}

// Sets the slices of ops: a slice knows its op by external_id.
void JoinOpsToSlices(Part& whole) {
  const auto& slices = whole.tables.Get<TimelineSliceTable>();
  auto& ops = whole.tables.Edit<RecordedOpTable>();
  std::vector<int32_t> slice_of(ops.size(), kNone32);
  for (size_t i = 0; i < slices.size(); ++i) {
    const int64_t op = OpOf(slices, i);
    if (op != kNone64) slice_of[static_cast<size_t>(op)] = static_cast<int32_t>(i);
  }
  for (size_t i = 0; i < slice_of.size(); ++i) ops.slice[i] = slice_of[i];
}

// Sets the slices that notes are about; those of a thread are in order of time.
void JoinNotesToSlices(Part& whole) {
  const auto& slices = whole.tables.Get<TimelineSliceTable>();
  const auto& ops = whole.tables.Get<RecordedOpTable>();
  auto& notes = whole.tables.Edit<RecordedOpNoteTable>();
  if (notes.size() == 0) return;
  const auto threads = OpsByThread(ops);
  std::map<int64_t, size_t> begun;  // ops of each thread that had begun
  for (size_t note = 0; note < notes.size(); ++note) {
    const auto own = threads.find(notes.thread[note]);
    if (own == threads.end()) continue;
    size_t& next = begun[notes.thread[note]];
    while (next < own->second.size() && ops.start_ns[own->second[next]] <= notes.time_ns[note])
      ++next;
    if (next == 0) continue;
    int32_t slice = ops.slice[own->second[next - 1]];
    const auto end_of = [&](int32_t number) {
      const auto at = static_cast<size_t>(number);
      return slices.start_ns[at] + slices.duration_ns[at];
    };
    while (slice != kNone32 && end_of(slice) < notes.time_ns[note])
      slice = slices.parent[static_cast<size_t>(slice)];
    notes.slice[note] = slice;
  }
}

class SourceBytes final : public recorder::RecordingBytes {
 public:
  explicit SourceBytes(const Source& source) : source_(source) {}
  uint64_t size() const override { return source_.size(); }
  bool Copy(uint64_t offset, std::span<std::byte> to) const override {
    const Result<ByteView> view = source_.View(offset, to.size());
    if (!view.ok() || view.value().size() < to.size()) return false;
    std::memcpy(to.data(), view.value().data(), to.size());
    return true;
  }

 private:
  const Source& source_;
};

struct RecordingNotes final : PartNotes {
  int64_t base_ns = 0;
  int64_t records = 0;
  int32_t world_size = kNone32;
  bool has_shapes = false;
  bool has_memory = false;
};

void AddMetadata(const recorder::ReadRecording& read, const Identity& who, Part& part) {
  for (const auto& [key, value] : read.metadata) {
    const std::string* key_text = read.Text(key);
    const std::string* value_text = read.Text(value);
    if (key_text == nullptr || value_text == nullptr) continue;
    auto row = Part::RowOf<RecordingNoteRow>(who);
    row.key = part.pools.Intern(*key_text);
    row.value = part.pools.Intern(*value_text);
    part.tables.Edit<RecordingNoteTable>().Add(row);
  }
}

class RecordingReader final : public Reader {
 public:
  explicit RecordingReader(const ImportContext& context)
      : who_(context.who), ops_alone_(context.ops_alone), joiner_(context.who) {}

  Status Read(const Source& source, ByteRange, Part& part) const override {
    RowBuilder rows(who_, ops_alone_, part);
    op_trace::SpanPairing spans(rows);
    const recorder::ReadRecording read = ReadDbr(SourceBytes(source), spans);
    ReportProblems(read, who_, part);
    if (!read.ok) return {};
    rows.SetRecording(read);
    spans.Finish();
    auto notes = std::make_unique<RecordingNotes>();
    notes->base_ns = rows.base_ns();
    notes->records = static_cast<int64_t>(spans.records());
    notes->has_shapes = rows.has_shapes();
    notes->has_memory = rows.has_memory();
    if (read.header.world_size > 0) notes->world_size = read.header.world_size;
    rows.Build();
    part.notes = std::move(notes);
    AddMetadata(read, who_, part);
    const WholeRecording whole = {read, rows.clock(), spans, rows};
    AddRecordingRow(whole, who_, part);
    AddLosses(whole, who_, part);
    ReportOddities(whole, who_, part);
    return {};
  }

  Status Merge(Part&& part, Part& whole) override {
    notes_.reset(static_cast<RecordingNotes*>(part.notes.release()));
    joiner_.Merge(std::move(part), whole);
    return {};
  }

  Status Finish(Part& whole) override {
    if (notes_ == nullptr) return {};
    joiner_.Finish({.producer = "recorder", .base_ns = notes_->base_ns, .events = notes_->records},
                   whole);
    auto& timelines = whole.tables.Edit<TimelineTable>();
    timelines.world_size.back() = notes_->world_size;
    timelines.has_shapes.back() = notes_->has_shapes;
    timelines.has_memory.back() = notes_->has_memory;
    JoinOpsToSlices(whole);
    JoinNotesToSlices(whole);
    return {};
  }

 private:
  Identity who_;
  bool ops_alone_;
  timeline::TimelineJoiner joiner_;
  std::unique_ptr<RecordingNotes> notes_;
};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "recording",
               .sentence = "recording: what a program recorded of itself with debrief/recorder.h",
               .example = "run.dbr",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<RecordingReader>};
  return kImporter;
}

}  // namespace debrief::inputs::recording
