// How far the clock of each rank is ahead of the others'.
//
// A collective ends at the same moment on all members, so what their dumps say of that moment
// differs by their clocks, and by up to 100 ms, because a watchdog looks at the GPU only now and
// then. Hence medians over many collectives, and an offset is believed only when it is beyond both.
//
//   group --> deviation of each member from the median of the members: median over collectives
//   groups that share ranks are put on one clock, the largest first; its median is zero
//
// Cost: 64 collectives a group, linear in the memberships.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/flight/index.h"

namespace debrief::analyses::flight {

struct ClockOffset {
  int64_t offset_ns = kNone64;  // own clock minus that of the others; kNone64 when not known
  int64_t spread_ns = kNone64;  // width of the middle half of what the collectives say
  // What to take off its times: the offset where it is clear, else nothing.
  int64_t correction_ns() const;
};

// Beside Index::ranks.
std::vector<ClockOffset> EstimateClocks(const Index& index);

// Times of broken dumps are anywhere; those that are believed can be subtracted.
inline bool IsTime(int64_t ns) { return ns > 0 && ns < (int64_t{1} << 62); }

// The middle one, of an even number the mean of the two in the middle. Reorders; not for none.
int64_t TakeMedian(std::vector<int64_t>& values);

}  // namespace debrief::analyses::flight
