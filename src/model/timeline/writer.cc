#include "model/timeline/writer.h"

#include <algorithm>

#include "model/timeline/arrange.h"
#include "tables/accel_stamp.h"
#include "tables/timeline.h"
#include "tables/timeline_args.h"
#include "tables/timeline_collective.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_device_work.h"
#include "tables/timeline_flow.h"
#include "tables/timeline_memory.h"
#include "tables/timeline_op.h"
#include "tables/timeline_op_args.h"
#include "tables/timeline_stage_op.h"

namespace debrief::timeline {

namespace {

int32_t CountOf(const Table& table) { return static_cast<int32_t>(table.size()); }

// Rows of every table that tells where its rows lie, from which on they are new.
struct Marks {
  explicit Marks(const TableSet& tables)
      : slices(tables.Get<TimelineSliceTable>().size()),
        tracks(tables.Get<TimelineTrackTable>().size()),
        processes(tables.Get<TimelineProcessTable>().size()),
        memory(tables.Get<TimelineMemoryTable>().size()),
        counters(tables.Get<TimelineCounterTable>().size()),
        flows(tables.Get<TimelineFlowTable>().size()),
        ops(tables.Get<TimelineOpTable>().size()),
        works(tables.Get<TimelineDeviceWorkTable>().size()),
        collectives(tables.Get<TimelineCollectiveTable>().size()),
        op_args(tables.Get<TimelineOpArgsTable>().size()),
        stage_ops(tables.Get<TimelineStageOpTable>().size()),
        stamps(tables.Get<AccelStampTable>().size()),
        args(tables.Get<TimelineArgsTable>().size()) {}

  size_t slices, tracks, processes, memory, counters, flows, ops, works, collectives, op_args,
      stage_ops, stamps, args;
};

void Replace(std::vector<int32_t>& column, size_t first, const std::vector<int32_t>& numbers) {
  for (size_t i = first; i < column.size(); ++i)
    column[i] = numbers[static_cast<size_t>(column[i])];
}

void Shift(std::vector<int32_t>& column, size_t first, int32_t by) {
  for (size_t i = first; i < column.size(); ++i) column[i] += by;
}

template <typename Table>
void Shorten(Table& table, size_t rows) {
  std::vector<uint32_t> kept(rows);
  for (uint32_t i = 0; i < rows; ++i) kept[i] = i;
  table.Gather(kept);
}

TimelineSliceRow WithPairId(TimelineSliceRow row, int64_t id) {
  if (id == kNone64) return row;
  row.external_id = id;
  row.depth = kPairedById;
  return row;
}

template <typename T>
void TakeIfTold(T& have, T told, T none) {
  if (told != none) have = told;
}

}  // namespace

TimelineWriter::TimelineWriter(const Identity& who, Part& part)
    : who_(who),
      part_(part),
      processes_(part.tables.Edit<TimelineProcessTable>()),
      tracks_(part.tables.Edit<TimelineTrackTable>()),
      slices_(part.tables.Edit<TimelineSliceTable>()) {}

int32_t TimelineWriter::Process(std::string_view pid) {
  auto [found, is_new] = process_of_.try_emplace(Intern(pid), CountOf(processes_));
  if (is_new) {
    auto row = NewRow<TimelineProcessRow>();
    row.process = found->second;
    row.pid = found->first;
    processes_.Add(row);
  }
  return found->second;
}

int32_t TimelineWriter::Track(std::string_view pid, std::string_view tid, std::string_view kind) {
  TrackKey key{Intern(pid), Intern(tid), Intern(kind)};
  auto [found, is_new] = track_of_.try_emplace(key, CountOf(tracks_));
  if (is_new) {
    auto row = NewRow<TimelineTrackRow>();
    row.track = found->second;
    row.process = Process(pid);
    row.tid = key.tid;
    row.kind = key.kind;
    tracks_.Add(row);
  }
  return found->second;
}

int32_t TimelineWriter::AddSlice(const TimelineSliceRow& row) {
  slices_.Add(row);
  return CountOf(slices_) - 1;
}

int32_t TimelineWriter::AddBegin(TimelineSliceRow row, int64_t id) {
  row.duration_ns = kBegins;
  return AddSlice(WithPairId(row, id));
}

void TimelineWriter::AddEnd(TimelineSliceRow row, int64_t id) {
  row.duration_ns = kEnds;
  AddSlice(WithPairId(row, id));
}

void TimelineJoiner::Merge(Part&& part, Part& whole) {
  Marks marks(whole.tables);
  whole.Append(std::move(part));
  TableSet& tables = whole.tables;
  auto processes = RenumberProcesses(marks.processes, whole);
  auto numbers = RenumberTracks(marks.tracks, processes, whole);
  Replace(tables.Edit<TimelineSliceTable>().track, marks.slices, numbers);
  Replace(tables.Edit<TimelineMemoryTable>().track, marks.memory, numbers);
  Replace(tables.Edit<TimelineCounterTable>().track, marks.counters, numbers);
  Replace(tables.Edit<TimelineFlowTable>().track, marks.flows, numbers);
  auto first_slice = static_cast<int32_t>(marks.slices);
  Shift(tables.Edit<TimelineOpTable>().slice, marks.ops, first_slice);
  Shift(tables.Edit<TimelineDeviceWorkTable>().slice, marks.works, first_slice);
  Shift(tables.Edit<TimelineCollectiveTable>().slice, marks.collectives, first_slice);
  Shift(tables.Edit<TimelineOpArgsTable>().slice, marks.op_args, first_slice);
  Shift(tables.Edit<TimelineStageOpTable>().slice, marks.stage_ops, first_slice);
  Shift(tables.Edit<AccelStampTable>().slice, marks.stamps, first_slice);
  Shift(tables.Edit<TimelineArgsTable>().slice, marks.args, first_slice);
}

std::vector<int32_t> TimelineJoiner::RenumberProcesses(size_t first, Part& whole) {
  auto& table = whole.tables.Edit<TimelineProcessTable>();
  std::vector<int32_t> numbers;
  size_t kept = first;
  for (size_t row = first; row < table.size(); ++row) {
    auto [found, is_new] = process_of_.try_emplace(table.pid[row], static_cast<int32_t>(kept));
    auto to = static_cast<size_t>(found->second);
    if (is_new) ++kept;
    numbers.push_back(found->second);
    table.pid[to] = table.pid[row];
    table.process[to] = found->second;
    if (is_new && to != row) {
      table.name[to] = StringId::kNone;
      table.labels[to] = StringId::kNone;
      table.sort_index[to] = kNone32;
    }
    TakeIfTold(table.name[to], table.name[row], StringId::kNone);
    TakeIfTold(table.labels[to], table.labels[row], StringId::kNone);
    TakeIfTold(table.sort_index[to], table.sort_index[row], kNone32);
  }
  if (kept < table.size()) Shorten(table, kept);
  return numbers;
}

std::vector<int32_t> TimelineJoiner::RenumberTracks(size_t first,
                                                    const std::vector<int32_t>& processes,
                                                    Part& whole) {
  auto& table = whole.tables.Edit<TimelineTrackTable>();
  const auto& pids = whole.tables.Get<TimelineProcessTable>().pid;
  std::vector<int32_t> numbers;
  size_t kept = first;
  for (size_t row = first; row < table.size(); ++row) {
    int32_t process = processes[static_cast<size_t>(table.process[row])];
    TrackKey key{pids[static_cast<size_t>(process)], table.tid[row], table.kind[row]};
    auto [found, is_new] = track_of_.try_emplace(key, static_cast<int32_t>(kept));
    auto to = static_cast<size_t>(found->second);
    if (is_new) ++kept;
    numbers.push_back(found->second);
    table.process[to] = process;
    table.track[to] = found->second;
    table.tid[to] = key.tid;
    table.kind[to] = key.kind;
    if (is_new && to != row) {
      table.name[to] = StringId::kNone;
      table.device[to] = table.sort_index[to] = kNone32;
      table.stream[to] = kNone64;
    }
    TakeIfTold(table.name[to], table.name[row], StringId::kNone);
    TakeIfTold(table.device[to], table.device[row], kNone32);
    TakeIfTold(table.stream[to], table.stream[row], kNone64);
    TakeIfTold(table.sort_index[to], table.sort_index[row], kNone32);
  }
  if (kept < table.size()) Shorten(table, kept);
  return numbers;
}

EdgeCounts TimelineJoiner::Finish(
    const FileFacts& facts, Part& whole,
    const std::function<void(Part& whole, const EdgeCounts& edges)>& adjust) {
  EdgeCounts counts = PairEdges(whole.tables);
  if (adjust) adjust(whole, counts);
  if (facts.base_ns != kNone64) ShiftTimes(facts.base_ns, whole.tables);
  SortSlices(whole.tables);
  NestSlices(whole);
  BindFlows(whole);
  auto row = Part::RowOf<TimelineRow>(who_);
  row.producer = whole.pools.Intern(facts.producer);
  row.base_ns = facts.base_ns;
  row.events = facts.events;
  row.lost = facts.lost;
  row.repeated_flows = facts.repeated_flows;
  Extent extent = ExtentOfSlices(whole);
  row.start_ns = extent.start_ns;
  row.end_ns = extent.end_ns;
  whole.tables.Edit<TimelineTable>().Add(row);
  return counts;
}

}  // namespace debrief::timeline
