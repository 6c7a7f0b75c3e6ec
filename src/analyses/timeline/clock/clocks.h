// How far apart the clocks of ranks are, from collectives that end at one moment.
//
//   group --> each member against the first: median and spread of the distance of their ends, and
//             a slope where it is beyond the spread
//   edges of all groups --> the tree of the most certain ones --> offsets against one rank
//
// What must hold whatever the spread: nobody ends such a collective before all have begun it. It
// bounds the distance of two clocks from both sides. Inside of these bounds an offset that is not
// beyond its spread is taken for none: ranks of one host have one clock, and noise is no offset.
//
// Cost: linear in the matches, but for sorting; slopes on a sample.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/timeline/clock/matches.h"

namespace debrief::analyses::timeline_clock {

// What to add to a time t of a node: value + slope * (t - at).
struct Correction {
  int64_t at_ns = 0;
  int64_t value_ns = 0;
  double slope = 0;

  int64_t Of(int64_t time_ns) const;
  int64_t Apply(int64_t time_ns) const { return time_ns + Of(time_ns); }
};

struct NodeClock {
  bool aligned = false;
  bool reference = false;
  Correction correction;
  int64_t matched = 0;
  int64_t residual_ns = kNone64;
};

// Beside Job::nodes.
std::vector<NodeClock> EstimateClocks(const Model& model, const Job& job,
                                      const std::vector<Match>& matches);

}  // namespace debrief::analyses::timeline_clock
