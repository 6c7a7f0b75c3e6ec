// Who comes when to collectives, what each group moves, and how long that takes.
//
// One pass over the collectives that all members joined, and one over sends and receives. Times of
// arrival are those of issue, less the rank's clock offset where that is clear (clocks.cc). Cost:
// linear in the units; what is kept is a row for each rank and for each group and op.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analyses/flight/index.h"
#include "model/model.h"

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

struct Delay {
  int64_t late_ns = kNone64;  // behind the last but one member
  int32_t unit = -1;
};

struct RankArrival {
  int64_t times_last = 0;
  int64_t total_ns = 0;
  std::array<Delay, 3> longest;  // longest first
};

// What the members of one group do with one op.
struct Traffic {
  int32_t group = 0;
  StringId op = StringId::kNone;
  int64_t count = 0;
  int64_t input_bytes = kNone64;  // of all, divided by the members
  int64_t output_bytes = kNone64;
  int64_t slowest_ns = kNone64;
  int32_t slowest_seq = kNone32;
  int64_t median_ns = kNone64;
  int64_t median_spread_ns = kNone64;  // first to last arrival
  int64_t longest_spread_ns = kNone64;
};

struct Arrivals {
  std::vector<ClockOffset> clocks;  // beside Index::ranks
  std::vector<RankArrival> ranks;   // likewise
  std::vector<Traffic> traffic;     // by group
};

Arrivals FindArrivals(const Index& index);

}  // namespace debrief::analyses::flight
