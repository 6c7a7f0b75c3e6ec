// What profile.cc puts together: the processes of a profile, what is said of its slices, and its
// arrows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/timeline/view.h"
#include "outputs/report/html/timeline/island.h"
#include "outputs/report/html/timeline/maker.h"

namespace debrief::outputs::html {

// The processes of a profile as the timeline shows them: which there are, what they are called, and
// their tracks in order.
//
// What has nothing but spans, marks and overhead of the profiler itself is one process, "profiler",
// whatever number of processes the file makes of it.

struct Party {
  int32_t number = kNone32;  // of the file's process
  ProcessPlace place = ProcessPlace::kOther;
  std::string what;            // "python (host)", "GPU 0"
  std::vector<size_t> tracks;  // rows of timeline_track
  bool is_main = false;        // the one of them that gets what is of the whole timeline
};

// Of the tracks that have slices or, as the caller knows, counters.
std::vector<Party> PartiesOf(const timeline::TimelineView& view,
                             const std::function<bool(size_t track)>& has_counters);

// "thread 1 (python3)", "stream 7", "stream 7 annotations".
std::string TrackName(const timeline::TimelineView& view, size_t track);

// What the tables of details say of a profile's slices, in a few words: shapes of an op, size of a
// kernel's grid, bytes of a copy, group and sequence of a collective.
//
// Slices are asked for in rising order, so each table is walked once; a note that repeats (the same
// kernel with the same grid) is made once.
class ProfileNotes {
 public:
  ProfileNotes(const timeline::TimelineView& view, TimelineTexts& texts);

  // The next slice that is asked for; those after it rise.
  void Seek(int32_t slice);

  struct Note {
    uint32_t text = 0;
    bool is_collective = false;
  };
  Note Of(int32_t slice);

 private:
  using WorkKey = std::array<int64_t, 6>;
  struct WorkKeyHash {
    size_t operator()(const WorkKey& key) const {
      uint64_t hash = 0;
      for (int64_t part : key)
        hash = (hash ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15 + (hash >> 29);
      return static_cast<size_t>(hash ^ (hash >> 32));
    }
  };

  uint32_t OfWork(size_t row);
  uint32_t OfCollective(size_t row);

  const timeline::TimelineView& view_;
  const TimelineOpTable& op_table_;
  const TimelineDeviceWorkTable& work_table_;
  const TimelineCollectiveTable& collective_table_;
  TimelineTexts& texts_;
  size_t op_, work_, collective_;  // rows
  std::unordered_map<WorkKey, uint32_t, WorkKeyHash> works_;
  std::string text_;
};

// The arrows of a profile: from the call that launched a piece of work to the work, and those of
// the file itself (a forward op to its backward).
//
// In order of `to`; only those between slices that are `kept`. Linear but for the sorting of the
// file's own arrows.
std::vector<TimelineArrow> ProfileFlows(const timeline::TimelineView& view,
                                        const std::vector<bool>& kept, IslandWriter& writer);

}  // namespace debrief::outputs::html
