// Several timelines as one, for outputs that show them beside each other on one clock.
//
// Each timeline keeps its own rows; what could be confused with another's is told apart:
//   times         by table timeline_clock, where it says how the clocks relate
//   processes     names begin with the rank ("rank 3: python"), pids with "3:"
//   ids           correlations, external ids, flows and sequence numbers are moved out of the way
// Of a single timeline nothing is changed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "model/timeline/view.h"

namespace debrief {

// "rank 3", or "input 0" where the rank is not known.
std::string RankName(const Identity& who);

struct MergedTimeline {
  explicit MergedTimeline(const timeline::TimelineView& one) : view(one) {}

  timeline::TimelineView view;
  int64_t offset_ns = 0;
  double drift = 0;  // to be multiplied with the time since the middle
  int64_t middle_ns = 0;
  int64_t first_id = 0;
  int32_t first_process = 0, first_track = 0;  // numbers among those of all timelines
  std::string name_prefix, pid_prefix;

  int64_t TimeOf(int64_t time) const;
  int64_t IdOf(int64_t id) const { return id == kNone64 ? kNone64 : id + first_id; }

  // Whether the column under this key (model/timeline/columns.h) is an id.
  static bool IsIdKey(std::string_view key);
};

// In order of input.
std::vector<MergedTimeline> MergeTimelines(const Model& model);

}  // namespace debrief
