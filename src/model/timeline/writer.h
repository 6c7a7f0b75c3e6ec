// Fills the timeline tables, for every importer of timelines.
//
//   TimelineWriter   one range of a file: events in any order -> rows of a Part       many threads
//   TimelineJoiner   the Parts in order -> one Part whose rows keep what tables.def promises
//
// A writer numbers tracks, processes and slices from 0 in its own part; the joiner renumbers them.
// What only the whole file can decide (begin and end events that belong together, names that come
// after the events, nesting, arrows) is done by Finish(): linear, but for the sorting of tracks
// whose events the file has out of order.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/model.h"
#include "tables/timeline_process.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_track.h"

namespace debrief::timeline {

struct TrackKey {
  StringId pid, tid, kind;
  bool operator==(const TrackKey&) const = default;
};

struct TrackKeyHash {
  size_t operator()(const TrackKey& key) const {
    auto number = [](StringId id) { return static_cast<uint64_t>(id); };
    uint64_t mixed = number(key.pid) * 0x9e3779b97f4a7c15 + number(key.tid);
    return static_cast<size_t>(mixed * 0xc2b2ae3d27d4eb4f + number(key.kind));
  }
};

class TimelineWriter {
 public:
  // `part` must outlive the writer.
  TimelineWriter(const Identity& who, Part& part);

  // A row, for example a TimelineOpRow, that belongs to this timeline.
  template <typename Row>
  Row NewRow() const {
    return Part::RowOf<Row>(who_);
  }

  // Numbers in this part; a new process or track gets its row. `kind`: one of kinds.h.
  int32_t Process(std::string_view pid);
  int32_t Track(std::string_view pid, std::string_view tid, std::string_view kind);

  // To write down what metadata says of them.
  TimelineProcessTable& processes() { return processes_; }
  TimelineTrackTable& tracks() { return tracks_; }

  // Returns the number of the slice in this part, for the tables of details.
  int32_t AddSlice(const TimelineSliceRow& row);

  // A slice that the file tells as two events. Begins and ends pair up like brackets among those of
  // the same track and `id` (asynchronous events have one). Of an end only track, start and id
  // count.
  int32_t AddBegin(TimelineSliceRow row, int64_t id = kNone64);
  void AddEnd(TimelineSliceRow row, int64_t id = kNone64);

  Part& part() { return part_; }
  StringId Intern(std::string_view text) { return part_.pools.Intern(text); }

 private:
  Identity who_;
  Part& part_;
  TimelineProcessTable& processes_;
  TimelineTrackTable& tracks_;
  TimelineSliceTable& slices_;
  std::unordered_map<StringId, int32_t> process_of_;  // by pid
  std::unordered_map<TrackKey, int32_t, TrackKeyHash> track_of_;
};

// What the file says about itself.
struct FileFacts {
  std::string_view producer;
  int64_t base_ns = kNone64;  // added to every time
  int64_t events = 0;
  int64_t lost = 0;
  int64_t repeated_flows = 0;
};

struct EdgeCounts {
  int64_t never_ended = 0;  // begins without an end; they last until the end of the timeline
  int64_t never_begun = 0;  // ends without a begin; left out
  int64_t reversed = 0;     // the end stands right behind the begin and is earlier: no duration
  std::vector<uint32_t> open_slices;  // rows of begins without an end, before slices are sorted
};

class TimelineJoiner {
 public:
  explicit TimelineJoiner(const Identity& who) : who_(who) {}

  void Merge(Part&& part, Part& whole);

  // Adds the row of table `timeline`, whose other columns the importer fills afterwards. `adjust`
  // sees the slices when they have their durations and are not sorted yet: `slice` and `track` are
  // numbers of rows, in the order of the file, and times may be changed.
  EdgeCounts Finish(const FileFacts& facts, Part& whole,
                    const std::function<void(Part& whole, const EdgeCounts& edges)>& adjust = {});

 private:
  std::vector<int32_t> RenumberProcesses(size_t first, Part& whole);
  std::vector<int32_t> RenumberTracks(size_t first, const std::vector<int32_t>& processes,
                                      Part& whole);

  Identity who_;
  std::unordered_map<StringId, int32_t> process_of_;
  std::unordered_map<TrackKey, int32_t, TrackKeyHash> track_of_;
};

}  // namespace debrief::timeline
