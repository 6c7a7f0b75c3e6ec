#include "inputs/recording/trouble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "inputs/recording/diagnostics.h"
#include "tables/recording.h"
#include "tables/recording_loss.h"

namespace debrief::inputs::recording {

namespace {

const DiagnosticKind& KindOf(recorder::Problem problem) {
  switch (problem) {
    case recorder::Problem::kNotARecording:
      return kNoHeader;
    case recorder::Problem::kOtherVersion:
      return kOtherVersion;
    case recorder::Problem::kCutFile:
      return kCutFile;
    case recorder::Problem::kBadChunk:
      return kBadChunk;
    case recorder::Problem::kBadHead:
      return kBadHead;
    case recorder::Problem::kBadRecord:
      return kBadRecord;
    case recorder::Problem::kBadText:
      return kBadText;
    case recorder::Problem::kUnknownName:
      return kUnknownName;
    case recorder::Problem::kUnreadable:
      break;
  }
  return kUnreadable;
}

std::string_view ClockName(recorder::ClockKind kind) {
  if (kind == recorder::ClockKind::kTsc) return "tsc";
  return kind == recorder::ClockKind::kCntvct ? "cntvct" : "monotonic";
}

// A field of fixed size that need not end in a zero.
template <size_t kBytes>
std::string_view TextOf(const char (&field)[kBytes]) {
  return {field, strnlen(field, kBytes)};
}

int64_t CountOf(uint64_t number) {
  return static_cast<int64_t>(std::min<uint64_t>(number, INT64_MAX));
}

StringId InternTold(std::string_view text, Part& part) {
  return text.empty() ? StringId::kNone : part.pools.Intern(text);
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
    row.input = who.input;
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

}  // namespace

void ReportProblems(const recorder::ReadRecording& read, const Identity& who, Part& part) {
  for (const recorder::ReaderProblem& each : read.problems) {
    part.diagnostics.Add(KindOf(each.problem), who.input,
                         {.offset = static_cast<int64_t>(each.offset)});
  }
}

void AddRecordingRow(const WholeRecording& whole, const Identity& who, Part& part) {
  const recorder::FileHeader& header = whole.read.header;
  auto row = Part::RowOf<RecordingRow>(who);
  row.input = who.input;
  row.pid = header.pid;
  if (header.parent_pid != 0) row.parent_pid = header.parent_pid;
  row.host = InternTold(TextOf(header.host), part);
  row.boot_id = InternTold(TextOf(header.boot_id), part);
  if (header.world_size > 0) row.world_size = header.world_size;
  row.clock = part.pools.Intern(ClockName(header.clock_kind));
  row.policy = part.pools.Intern(header.policy == recorder::Policy::kRing ? "ring" : "stop");
  row.start_ns = whole.clock.WallNs(header.opened.ticks);
  row.end_ns = std::max(row.start_ns, whole.clock.WallNs(whole.spans.last_ticks()));
  row.records = CountOf(whole.spans.records());
  row.overwritten = CountOf(header.overwritten);
  row.dropped = CountOf(whole.read.dropped);
  row.lost_names = CountOf(header.lost_names);
  row.closed = header.closed == 1;
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
  if (header.closed != 1) part.diagnostics.Add(kNeverClosed, who.input);
  if (const int64_t step = whole.clock.wall_step_ns(); step != 0) {
    part.diagnostics.Add(kWallClockSet, who.input,
                         {.detail = fmt::format("by {:.3f} s", static_cast<double>(step) / 1e9)});
  }
}

}  // namespace debrief::inputs::recording
