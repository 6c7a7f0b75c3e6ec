// One timeline of the model -> packets of a trace.
//
//   descriptors   a process track for each process; below it threads, streams, chains, counters
//   rows about    what Perfetto has no place for, as instants of a track of their own
//                 (docs/formats/perfetto.md), so that our importer gives the same tables again
//   events        the slices of one track after the other, then memory, counters and arrows
//
// Perfetto sorts by time itself; here rows stay in the order of their tables.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "outputs/exports/perfetto/arrows.h"
#include "outputs/exports/perfetto/lanes.h"
#include "outputs/exports/perfetto/packet_writer.h"
#include "outputs/timeline_merge.h"

namespace debrief::outputs::perfetto {

// Numbers that must differ in the whole trace.
class TraceNumbers {
 public:
  uint64_t NewUuid() { return ++uuids_; }

  // Perfetto wants positive 32-bit numbers, each once: the text's own where that is one, else one
  // that no process has.
  int32_t Pid(std::string_view text);
  // 0 when the text has none of its own.
  int32_t Tid(std::string_view text);

 private:
  uint64_t uuids_ = 0;
  int32_t next_pid_ = 1'000'000'000;
  std::unordered_set<int32_t> pids_, tids_;
};

class TimelinePackets {
 public:
  // All must outlive it.
  TimelinePackets(const MergedTimeline& merged, TraceNumbers& numbers, PacketWriter& writer);

  Status Write();

 private:
  Status WriteProcesses();
  Status WriteTracks();
  Status WriteAbout();
  template <typename Table>
  Status WriteRows(std::string_view name);
  Status WriteSlices();
  Status WriteTrack(size_t track_row);
  Status WriteSlice(int32_t slice, uint64_t uuid, bool is_instant);
  Status WriteMemory();
  Status WriteCounters();
  Status WriteFlows();

  TrackInfo DescribeTrack(size_t row);
  Result<uint64_t> LaneOf(size_t track_row, size_t lane, std::vector<uint64_t>& lanes);
  Result<uint64_t> SeriesOf(int32_t track, StringId series);
  void BeginAbout(std::string_view name, int64_t time);
  template <typename Table>
  void AnnotateRow(const Table& table, size_t row);
  template <typename Table>
  bool AnnotateDetails(const Table& table, size_t row, size_t end, int32_t slice,
                       std::string_view key);

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
};

}  // namespace debrief::outputs::perfetto
