// Two recordings of the same kernels on two clocks: how far one clock is ahead of the other.
//
//   reference   a b c a b c a b c a b c        names in the order of time
//   other             a b c a b c              recorded for a shorter time
//
// Every way to lay one sequence over the other that is worth trying puts a rare piece of names
// (2^k in a row) of one onto the same piece of the other. Of the ways tried the one wins in which
// most names meet the same name; among ways that are equally good, as with iterations, the one in
// which the distances between the two clocks differ least: iterations never take exactly the same
// time.
//
// Cost: O(n log n) for the pieces, O(kSample) for each of at most kMostShifts ways, O(n) for the
// best few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace debrief::accel {

struct TimedName {
  double ts = 0;
  uint32_t name = 0;
};

struct ClockMatch {
  size_t matched = 0;       // names that met; 0: no match, nothing else here means anything
  size_t compared = 0;      // names that lie over each other
  double offset_us = 0;     // to add to `other`: median distance
  double spread_us = 0;     // median deviation from it
  size_t equally_good = 0;  // ways that matched as many names, this one included
};

// Both sorted by time.
ClockMatch MatchClocks(std::span<const TimedName> reference, std::span<const TimedName> other);

}  // namespace debrief::accel
