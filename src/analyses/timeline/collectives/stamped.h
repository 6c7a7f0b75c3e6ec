// Collectives of devices that show every transfer of one, as AIUs do.
//
//   AllReduce_all_reduce_4   [Receive s0] [Add_1] [Send s1] [Receive s3]      one collective
//
// Its events carry its name. Where a graph runs again, so does the collective, under the same name
// and with the same events: one that comes a second time begins the next. Cost: sorts the events.
#pragma once

#include <cstdint>
#include <vector>

#include "model/timeline/view.h"

namespace debrief::analyses::timeline_collectives {

struct StampedCollective {
  StringId name = StringId::kNone;
  int32_t rank = kNone32;
  int32_t first_slice = kNone32;
  int64_t start_ns = 0, end_ns = 0;
  int64_t bytes = kNone64;
  int32_t parts = 0;
};

// In order of time for each rank and name. What only waits to run is no part of one.
std::vector<StampedCollective> StampedCollectivesOf(const timeline::TimelineView& view);

// Whether a slice is a part of such a collective, by slice.
std::vector<bool> StampedPartsOf(const timeline::TimelineView& view);

}  // namespace debrief::analyses::timeline_collectives
