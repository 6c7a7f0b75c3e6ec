// Who makes the others wait, and how much of that is its own doing.
//
//   rank 4   ...comm|---- gap ----|comm........|          came in time
//   rank 6   ...comm|---------- gap -------|comm|         its own gap is longer: its own delay
//   rank 2   ......comm......|-- gap --|comm....|         late, because what was before ended late
//
// The delay of the last rank is how much later it begins than the middle one of the others; its own
// part is at most what its gap since its last communication is longer than theirs.
//
// Cost: linear in the matched collectives.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/model.h"

namespace debrief::analyses::profile_ranks {

// One rank of a job.
struct RankKey {
  int32_t job, attempt, rank;
  auto operator<=>(const RankKey&) const = default;
};

// A group and what it does: where a rank is late.
struct Where {
  StringId group_name, group_desc, op;
  ListId members;
  auto operator<=>(const Where&) const = default;
};

struct LateAt {
  int64_t delay_ns = 0;
  int64_t times = 0;
  std::vector<int64_t> matches;  // the first few
};

struct Delays {
  int64_t collectives = 0;
  int64_t times_last = 0;
  int64_t times_first = 0;
  int64_t wait_ns = 0;
  int64_t caused_ns = 0;  // mean waiting of another rank, added up over the times it came last
  int64_t own_ns = 0;
  int64_t times_late = 0;
  std::map<Where, LateAt> where;
};

std::map<RankKey, Delays> FindDelays(const Model& model);

}  // namespace debrief::analyses::profile_ranks
