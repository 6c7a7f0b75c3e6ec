// Output "perfetto": the timelines of a run as one Perfetto trace, for ui.perfetto.dev.
//
// Cost: 40 bytes and a begin and an end packet for each slice, more with details; streamed, so that
// memory is that of the names.
//
// One timeline of the model -> packets of a trace.
//
//   descriptors   a process track for each process; below it threads, streams, chains, counters
//   rows about    what Perfetto has no place for, as instants of a track of their own
//                 (docs/formats/perfetto.md), so that our importer gives the same tables again
//   events        the slices of one track after the other, then memory, counters and arrows
//
// Perfetto sorts by time itself; here rows stay in the order of their tables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/bytes/hash.h"
#include "base/text/strings.h"
#include "model/timeline/columns.h"
#include "model/timeline/kinds.h"
#include "model/timeline/lanes.h"
#include "model/timeline/perfetto_fields.h"
#include "model/trace_events/rest_args.h"
#include "outputs/exports/perfetto/packet_writer.h"
#include "outputs/output.h"
#include "outputs/timeline_merge.h"
#include "tables/timeline_args.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_flow.h"

namespace debrief::outputs::perfetto {

namespace {

namespace fields = debrief::perfetto;

int32_t PositiveNumber(std::string_view text) {
  return std::max(ParseNumber<int32_t>(text).value_or(0), 0);
}

bool IsNone(int32_t value) { return value == kNone32; }
bool IsNone(int64_t value) { return value == kNone64; }
bool IsNone(double value) { return std::isnan(value); }
bool IsNone(StringId value) { return value == StringId::kNone; }
bool IsNone(ListId value) { return value == ListId::kNone; }

// Arrows of one timeline as Perfetto wants them: numbers at the slices that they touch. From the
// call that launched work to that work (by correlation), and those of table timeline_flow.
struct ArrowEnd {
  int32_t slice = 0;
  uint64_t id = 0;
  bool ends = false;
};

// Numbers of arrows are those of the whole trace.
uint64_t Mix(uint64_t kind, int64_t timeline, int64_t number) {
  uint64_t mixed = kind * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(timeline);
  mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9 + static_cast<uint64_t>(number);
  mixed = (mixed ^ (mixed >> 32)) * 0x94d049bb133111eb;
  return (mixed ^ (mixed >> 31)) | 1;  // 0 is no number
}

// One arrow for each piece of work: a graph that is launched has thousands.
void AddLaunches(const MergedTimeline& merged, std::vector<ArrowEnd>& arrows) {
  const timeline::TimelineView& view = merged.view;
  std::unordered_map<int64_t, int32_t> launch_of;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    const auto at = static_cast<size_t>(slice);
    if (view.correlation[at] != kNone64 && view.kind[at] == view.kinds.runtime)
      launch_of.try_emplace(view.correlation[at], slice);
  }
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    const auto at = static_cast<size_t>(slice);
    if (view.correlation[at] == kNone64 || !view.kinds.IsWork(view.kind[at])) continue;
    const auto launch = launch_of.find(view.correlation[at]);
    if (launch == launch_of.end()) continue;
    const uint64_t id = Mix(0, view.who.input, slice);
    arrows.push_back({launch->second, id, false});
    arrows.push_back({slice, id, true});
  }
}

void AddFlows(const MergedTimeline& merged, std::vector<ArrowEnd>& arrows) {
  const auto& flows = merged.view.model.tables.Get<TimelineFlowTable>();
  const Pools& pools = merged.view.model.pools;
  for (size_t row = merged.view.flows.begin; row < merged.view.flows.end; ++row) {
    if (flows.slice[row] == kNone32) continue;
    const uint64_t name = HashBytes(pools.Text(flows.name[row]));
    const bool ends = pools.Text(flows.phase[row]) == timeline::kFlowEnd;
    arrows.push_back({flows.slice[row], Mix(name | 1, merged.view.who.input, flows.id[row]), ends});
  }
}

// In order of slice.
std::vector<ArrowEnd> FindArrows(const MergedTimeline& merged) {
  std::vector<ArrowEnd> arrows;
  AddLaunches(merged, arrows);
  AddFlows(merged, arrows);
  std::stable_sort(arrows.begin(), arrows.end(),
                   [](const ArrowEnd& a, const ArrowEnd& b) { return a.slice < b.slice; });
  return arrows;
}

// Numbers that must differ in the whole trace.
class TraceNumbers {
 public:
  uint64_t NewUuid() { return ++uuids_; }

  // Perfetto wants positive 32-bit numbers, each once: the text's own where that is one, else one
  // that no process has.
  int32_t Pid(std::string_view text) {
    int32_t number = PositiveNumber(text);
    if (number != 0 && pids_.insert(number).second) return number;
    while (!pids_.insert(next_pid_).second) ++next_pid_;
    return next_pid_;
  }
  // 0 when the text has none of its own.
  int32_t Tid(std::string_view text) {
    const int32_t number = PositiveNumber(text);
    return number != 0 && tids_.insert(number).second ? number : 0;
  }

 private:
  uint64_t uuids_ = 0;
  int32_t next_pid_ = 1'000'000'000;
  std::unordered_set<int32_t> pids_, tids_;
};

class TimelinePackets {
 public:
  // All must outlive it.
  TimelinePackets(const MergedTimeline& merged, TraceNumbers& numbers, PacketWriter& writer)
      : merged_(merged),
        view_(merged.view),
        model_(merged.view.model),
        numbers_(numbers),
        writer_(writer),
        next_work_(view_.works.begin),
        next_op_(view_.ops.begin),
        next_collective_(view_.collectives.begin),
        args_rows_(
            timeline::RowsOf(merged.view.model.tables.Get<TimelineArgsTable>(), view_.who.input)) {
    const int64_t start = model_.tables.Get<TimelineTable>().start_ns[view_.row];
    if (start != kNone64) start_ns_ = merged.TimeOf(start);
  }

  Status Write() {
    const bool counts_from_1970 = model_.tables.Get<TimelineTable>().base_ns[view_.row] != kNone64;
    if (counts_from_1970) TRY(writer_.AddClocks(start_ns_));
    TRY(WriteProcesses());
    TRY(WriteTracks());
    TRY(WriteAbout());
    arrows_ = FindArrows(merged_);
    for (size_t row = view_.tracks.begin; row < view_.tracks.end; ++row) TRY(WriteTrack(row));
    TRY(WriteMemory());
    TRY(WriteCounters());
    return WriteFlows();
  }

 private:
  Status WriteProcesses() {
    const auto& processes = model_.tables.Get<TimelineProcessTable>();
    const auto rows = timeline::RowsOf(processes, view_.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      TrackInfo track{.uuid = numbers_.NewUuid(), .kind = TrackInfo::Kind::kProcess};
      const std::string_view pid = model_.pools.Text(processes.pid[row]);
      track.pid = numbers_.Pid(pid);
      const std::string_view name = model_.pools.Text(processes.name[row]);
      track.name = merged_.name_prefix + std::string(name.empty() ? pid : name);
      track.labels = model_.pools.Text(processes.labels[row]);
      track.order = merged_.first_process + static_cast<int32_t>(row - rows.begin);
      pids_.push_back(track.pid);
      process_uuids_.push_back(track.uuid);
      TRY(writer_.AddTrack(track));
    }
    about_uuid_ = numbers_.NewUuid();
    return writer_.AddTrack({.uuid = about_uuid_,
                             .name = merged_.name_prefix + "about this timeline",
                             .order = static_cast<int32_t>(about_uuid_)});
  }

  Status WriteTracks() {
    const auto& tracks = model_.tables.Get<TimelineTrackTable>();
    for (size_t row = view_.tracks.begin; row < view_.tracks.end; ++row) {
      const TrackInfo track = DescribeTrack(row);
      track_uuids_.push_back(track.uuid);
      // A counter has a track for each of its values.
      if (tracks.kind[row] != view_.kinds.counter) TRY(writer_.AddTrack(track));
    }
    return {};
  }

  Status WriteAbout() {
    TRY(WriteRows<TimelineTable>(timeline::kAboutTimeline));
    TRY(WriteRows<TimelineDeviceTable>(timeline::kAboutDevice));
    TRY(WriteRows<TimelineGroupTable>(timeline::kAboutGroup));
    TRY(WriteRows<TimelineFactTable>(timeline::kAboutFact));
    const auto& processes = model_.tables.Get<TimelineProcessTable>();
    const auto rows = timeline::RowsOf(processes, view_.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      BeginAbout(timeline::kAboutProcess, start_ns_);
      AnnotateRow(processes, row);
      // Behind the columns: what is told last counts.
      if (!merged_.name_prefix.empty()) {
        const std::string_view pid = model_.pools.Text(processes.pid[row]);
        const std::string_view name = model_.pools.Text(processes.name[row]);
        writer_.AnnotateText("pid", merged_.pid_prefix + std::string(pid));
        writer_.AnnotateText("name", merged_.name_prefix + std::string(name));
      }
      TRY(writer_.End());
    }
    const auto& tracks = model_.tables.Get<TimelineTrackTable>();
    for (size_t row = view_.tracks.begin; row < view_.tracks.end; ++row) {
      BeginAbout(timeline::kAboutTrack, start_ns_);
      AnnotateRow(tracks, row);
      const uint64_t uuid = track_uuids_[row - view_.tracks.begin];
      writer_.Annotate(timeline::kUuidKey, static_cast<int64_t>(uuid));
      TRY(writer_.End());
    }
    return {};
  }

  template <typename Table>
  Status WriteRows(std::string_view name) {
    const auto& table = model_.tables.Get<Table>();
    const auto rows = timeline::RowsOf(table, view_.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      BeginAbout(name, start_ns_);
      AnnotateRow(table, row);
      TRY(writer_.End());
    }
    return {};
  }

  Status WriteTrack(size_t track_row) {
    const auto& tracks = model_.tables.Get<TimelineTrackTable>();
    std::vector<uint64_t> uuids = {track_uuids_[track_row - view_.tracks.begin]};
    timeline::Lanes<> lanes;
    Status status;
    auto close = [&](size_t lane, int64_t time) {
      writer_.Begin(fields::kSliceEnd, merged_.TimeOf(time), uuids[lane]);
      Status ended = writer_.End();
      if (status.ok()) status = ended;
    };
    const int32_t first = tracks.first_slice[track_row];
    for (int32_t slice = first; slice < first + tracks.slices[track_row]; ++slice) {
      const auto at = static_cast<size_t>(slice);
      const int64_t duration = std::max<int64_t>(view_.duration[at], 0);
      const bool is_instant = view_.kind[at] == view_.kinds.instant && duration == 0;
      size_t lane = 0;
      if (!is_instant) lane = lanes.Place(view_.start[at], view_.start[at] + duration, close);
      TRY(status);
      ASSIGN_OR_RETURN(const uint64_t uuid, LaneOf(track_row, lane, uuids));
      TRY(WriteSlice(slice, uuid, is_instant));
    }
    lanes.CloseAll(close);
    return status;
  }

  Status WriteSlice(int32_t slice, uint64_t uuid, bool is_instant) {
    const auto at = static_cast<size_t>(slice);
    writer_.Begin(is_instant ? fields::kInstant : fields::kSliceBegin,
                  merged_.TimeOf(view_.start[at]), uuid);
    writer_.Category(view_.category[at]);
    writer_.Named(view_.name[at]);
    for (; next_arrow_ < arrows_.size() && arrows_[next_arrow_].slice <= slice; ++next_arrow_)
      writer_.Flow(arrows_[next_arrow_].id, arrows_[next_arrow_].ends);
    const std::string_view kind = model_.pools.Text(view_.kind[at]);
    const std::string_view category = model_.pools.Text(view_.category[at]);
    if (!is_instant && kind != timeline::KindOfCategory(category))
      writer_.Annotate(timeline::kKindKey, view_.kind[at]);
    writer_.Annotate(timeline::kCorrelationKey, merged_.IdOf(view_.correlation[at]));
    writer_.Annotate(timeline::kExternalIdKey, merged_.IdOf(view_.external_id[at]));
    const auto& tables = model_.tables;
    next_work_ += AnnotateDetails(tables.Get<TimelineDeviceWorkTable>(), next_work_,
                                  view_.works.end, slice, timeline::kWorkKey);
    next_op_ += AnnotateDetails(tables.Get<TimelineOpTable>(), next_op_, view_.ops.end, slice,
                                timeline::kOpKey);
    next_collective_ += AnnotateDetails(tables.Get<TimelineCollectiveTable>(), next_collective_,
                                        view_.collectives.end, slice, timeline::kCollectiveKey);
    AnnotateRest(slice);
    return writer_.End();
  }

  void AnnotateRest(int32_t slice) {
    const auto& table = model_.tables.Get<TimelineArgsTable>();
    const size_t row = args_rows_.begin;
    if (row >= args_rows_.end || table.slice[row] != slice) return;
    ++args_rows_.begin;
    writer_.BeginEntries();
    rest_.ForEach(model_.pools.Text(table.args[row]),
                  [&](std::string_view key, JsonValue value) { writer_.AddEntry(key, value); });
    writer_.EndEntries(timeline::kArgsKey);
  }

  Status WriteMemory() {
    const auto& memory = model_.tables.Get<TimelineMemoryTable>();
    for (size_t row = view_.memory.begin; row < view_.memory.end; ++row) {
      writer_.Begin(fields::kInstant, merged_.TimeOf(memory.time_ns[row]),
                    track_uuids_[static_cast<size_t>(memory.track[row])]);
      writer_.Named("[memory]");
      AnnotateRow(memory, row);
      TRY(writer_.End());
    }
    return {};
  }

  Status WriteCounters() {
    const auto& counters = model_.tables.Get<TimelineCounterTable>();
    for (size_t row = view_.counters.begin; row < view_.counters.end; ++row) {
      ASSIGN_OR_RETURN(const uint64_t uuid, SeriesOf(counters.track[row], counters.series[row]));
      writer_.Begin(fields::kCounter, merged_.TimeOf(counters.time_ns[row]), uuid);
      writer_.Counter(counters.number[row]);
      TRY(writer_.End());
    }
    return {};
  }

  Status WriteFlows() {
    const auto& flows = model_.tables.Get<TimelineFlowTable>();
    for (size_t row = view_.flows.begin; row < view_.flows.end; ++row) {
      BeginAbout(timeline::kAboutFlow, merged_.TimeOf(flows.time_ns[row]));
      AnnotateRow(flows, row);
      if (merged_.first_id != 0) writer_.Annotate("id", merged_.IdOf(flows.id[row]));
      TRY(writer_.End());
    }
    return {};
  }

  TrackInfo DescribeTrack(size_t row) {
    const auto& tracks = model_.tables.Get<TimelineTrackTable>();
    const auto process = static_cast<size_t>(tracks.process[row]);
    const std::string_view tid = model_.pools.Text(tracks.tid[row]);
    TrackInfo track{.uuid = numbers_.NewUuid(), .parent = process_uuids_[process]};
    track.name = model_.pools.Text(tracks.name[row]);
    if (tracks.kind[row] == view_.kinds.thread) track.tid = numbers_.Tid(tid);
    if (track.tid != 0) {
      track.kind = TrackInfo::Kind::kThread;
      track.pid = pids_[process];
      track.parent = 0;
    }
    if (track.name.empty()) {
      const bool is_stream = tracks.kind[row] == view_.kinds.stream;
      track.name = is_stream ? fmt::format("stream {}", tid) : std::string(tid);
    }
    track.order = tracks.sort_index[row] != kNone32
                      ? tracks.sort_index[row]
                      : static_cast<int32_t>(row - view_.tracks.begin);
    return track;
  }

  Result<uint64_t> LaneOf(size_t track_row, size_t lane, std::vector<uint64_t>& lanes) {
    while (lanes.size() <= lane) {
      TrackInfo track = DescribeTrack(track_row);
      // Further rows of a thread are no threads.
      track.kind = TrackInfo::Kind::kPlain;
      const auto& tracks = model_.tables.Get<TimelineTrackTable>();
      track.parent = process_uuids_[static_cast<size_t>(tracks.process[track_row])];
      track.name += fmt::format(" ({})", lanes.size() + 1);
      TRY(writer_.AddTrack(track));
      BeginAbout(timeline::kAboutLane, start_ns_);
      writer_.Annotate(timeline::kUuidKey, static_cast<int64_t>(track.uuid));
      writer_.Annotate("track", tracks.track[track_row] + merged_.first_track);
      TRY(writer_.End());
      lanes.push_back(track.uuid);
    }
    return lanes[lane];
  }

  Result<uint64_t> SeriesOf(int32_t track, StringId series) {
    const auto [found, is_new] = series_uuids_.try_emplace({track, series}, 0);
    if (!is_new) return found->second;
    TrackInfo info = DescribeTrack(view_.tracks.begin + static_cast<size_t>(track));
    info.kind = TrackInfo::Kind::kCounter;
    info.name += fmt::format(" {}", model_.pools.Text(series));
    found->second = info.uuid;
    TRY(writer_.AddTrack(info));
    BeginAbout(timeline::kAboutSeries, start_ns_);
    writer_.Annotate(timeline::kUuidKey, static_cast<int64_t>(info.uuid));
    writer_.Annotate("track", track + merged_.first_track);
    writer_.Annotate(timeline::kSeriesKey, series);
    TRY(writer_.End());
    return info.uuid;
  }

  void BeginAbout(std::string_view name, int64_t time) {
    writer_.Begin(fields::kInstant, time, about_uuid_);
    writer_.Category(timeline::kAboutCategory);
    writer_.Named(name);
  }

  // All columns of a row; numbers of processes and tracks as those of the whole trace.
  template <typename Table>
  void AnnotateRow(const Table& table, size_t row) {
    timeline::VisitColumns(table, row, [&](std::string_view key, auto value) {
      using Value = decltype(value);
      if constexpr (std::is_same_v<Value, int32_t>) {
        if (key == "process") value += merged_.first_process;
        if (key == "track") value += merged_.first_track;
      }
      if constexpr (std::is_same_v<Value, int64_t>) {
        if (MergedTimeline::IsIdKey(key)) value = merged_.IdOf(value);
      }
      writer_.Annotate(key, value);
    });
  }

  // The row of details of `slice`, if the next one is; moves behind it.
  template <typename Table>
  bool AnnotateDetails(const Table& table, size_t row, size_t end, int32_t slice,
                       std::string_view key) {
    if (row >= end || table.slice[row] != slice) return false;
    bool is_empty = true;
    timeline::VisitColumns(table, row,
                           [&](std::string_view, auto value) { is_empty &= IsNone(value); });
    if (is_empty) writer_.Annotate(key, uint8_t{1});
    AnnotateRow(table, row);
    return true;
  }

  const MergedTimeline& merged_;
  const timeline::TimelineView& view_;
  const Model& model_;
  TraceNumbers& numbers_;
  PacketWriter& writer_;
  uint64_t about_uuid_ = 0;
  int64_t start_ns_ = 0;
  std::vector<int32_t> pids_;  // as Perfetto has them, by process
  std::vector<uint64_t> process_uuids_, track_uuids_;
  std::map<std::pair<int32_t, StringId>, uint64_t> series_uuids_;
  std::vector<ArrowEnd> arrows_;
  size_t next_arrow_ = 0;
  size_t next_work_, next_op_, next_collective_;
  timeline::RowRange args_rows_;  // those that are not written yet
  trace_events::RestArgs rest_;
};

constexpr std::string_view kFile = "timeline.pftrace";

Status Write(const Model& model, const OutputContext& context) {
  const std::string path = PathOf(context, kFile);
  if (path.empty()) return {};
  ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  PacketWriter writer(model.pools, file);
  TraceNumbers numbers;
  const std::vector<MergedTimeline> merged = MergeTimelines(model);
  for (const MergedTimeline& timeline : merged)
    TRY(TimelinePackets(timeline, numbers, writer).Write());
  return file.Finish();
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      {"perfetto", "the timelines of the run on one clock as a Perfetto trace, for ui.perfetto.dev",
       kFile, kOnRequest},
      Write};
  return kOutput;
}

}  // namespace debrief::outputs::perfetto
