// Whom the waiting at collectives goes back to, and what that rank did instead.
//
//   rank 6   |ar|------ sleeps ------|gemm|ar|        last: 50 ms of its host more than rank 4
//   rank 4   |ar|gemm|ar ... waits ..........|        so the waiting goes back to the host of rank
//   6 rank 0         |ag ... waits for rank 4 ......|   and so does this, through the waiting of
//   rank 4
//
// A rank that waits is compared with the last one to come, over the time since both left their last
// collective with the same members (since the begin of the recordings at the first one): how much
// longer was the last one in each state? That explains the waiting, the largest first; what is left
// is not known. What the last one waited for others meanwhile counts for those others; it is known,
// since collectives are looked at in the order in which they began to move data.
//
// Cost: linear in the matched collectives and their members, times the groups that a rank is in.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/cost/division.h"

namespace debrief::analyses::cost {

struct Culprit {
  int32_t rank = kNone32;
  State state = State::kUnknown;  // never kWait
  auto operator<=>(const Culprit&) const = default;
};

struct Blame {
  Culprit culprit;
  int64_t ns = 0;
};

struct WaitBlame {
  std::vector<Blame> blames;    // adds up to lost_ns
  int64_t lost_ns = 0;          // waiting in windows that is not hidden
  int64_t transfer_ns = 0;      // moving data in windows that is not hidden
  int32_t last_rank = kNone32;  // whose arrival was waited for
};

// By row of profile_collective_wait.
std::vector<WaitBlame> FindBlame(const Model& model, const std::vector<Division>& divisions);

// `blames` in proportion, so that they add up to `total` exactly.
std::vector<Blame> Scaled(const std::vector<Blame>& blames, int64_t total);

}  // namespace debrief::analyses::cost
