// Which rank do the others wait for, and why?
//
// In every step each rank's own time is compared with the median of the others': host time that it
// does not spend waiting, time that its device computes, time in the data loader. A straggler is
// far beyond the others in one of them in most steps, and the others did wait for it. An excess
// that is no larger than how it varies from step to step is chance: batches differ. Waiting alone
// is enough when it is much, recurs, and is nobody else's; then the reason is what the rank took
// longer over all steps together (it may compile in some of them, or collect garbage), if it is
// anything.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "model/timeline/rank_windows.h"

namespace debrief::analyses::profile_ranks {

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

using timeline::RankWindows;
using timeline::Window;

enum class Reason : uint8_t { kNone, kHost, kGpu, kData, kCompile, kUnknown };
std::string_view ReasonName(Reason reason);  // empty for kNone

// What of a rank is compared.
struct Case {
  const RankWindows* windows = nullptr;
  Delays delays;
  // Results: median over the steps of what is beyond the median of the others; kNone64 when no
  // other rank has the step.
  int64_t excess_host_ns = kNone64;
  int64_t excess_compute_ns = kNone64;
  int64_t excess_data_ns = kNone64;
  double share_most = 0;  // of the steps: no rank has a larger excess of that kind
  // Of a reason that is there in some steps only: its excess in all of them together.
  int64_t excess_sometimes_ns = 0;
  size_t steps_sometimes = 0;
  bool from_all = false;  // the excess is that of the recording, by its steps
  Reason reason = Reason::kNone;
};

// `cases`: the ranks of one job.
void Judge(std::vector<Case>& cases);

}  // namespace debrief::analyses::profile_ranks
