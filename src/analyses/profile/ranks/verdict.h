// Which rank do the others wait for, and why?
//
// In every step each rank's own time is compared with the median of the others': host time that it
// does not spend waiting, time that its device computes, time in the data loader. A straggler is
// far beyond the others in one of them in most steps, and the others did wait for it. Waiting alone
// is enough when it is much, comes again and again, and is nobody else's; then the reason is not
// known.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyses/profile/ranks/delays.h"
#include "model/timeline/rank_windows.h"

namespace debrief::analyses::profile_ranks {

using timeline::RankWindows;
using timeline::Window;

enum class Reason : uint8_t { kNone, kHost, kGpu, kData, kUnknown };
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
  Reason reason = Reason::kNone;
};

// `cases`: the ranks of one job.
void Judge(std::vector<Case>& cases);

}  // namespace debrief::analyses::profile_ranks
