// What the tables of details say of a profile's slices, in a few words: shapes of an op, size of a
// kernel's grid, bytes of a copy, group and sequence of a collective.
//
// Slices are asked for in rising order, so each table is walked once; a note that repeats (the same
// kernel with the same grid) is made once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "model/timeline/view.h"
#include "outputs/report/html/timeline_texts.h"

namespace debrief::outputs::html {

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

}  // namespace debrief::outputs::html
