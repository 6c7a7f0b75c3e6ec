// What the collectives of one group tell about the clocks of two of its members.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analyses/timeline/clock/matches.h"

namespace debrief::analyses::timeline_clock {

// The clock of b shows `ahead` more than that of a, at the moment when a shows `at`.
struct Edge {
  size_t a = 0;
  size_t b = 0;
  int64_t at_ns = 0;
  int64_t ahead_ns = 0;
  double slope = 0;       // by which `ahead` grows; 0 unless it is beyond the spread
  int64_t spread_ns = 0;  // median deviation
  int64_t matches = 0;
  int64_t least_ns = std::numeric_limits<int64_t>::min();  // bounds of `ahead`
  int64_t most_ns = std::numeric_limits<int64_t>::max();

  double Uncertainty() const;
  bool AllowsNone() const { return least_ns <= 0 && most_ns >= 0; }
};

std::vector<Edge> FindEdges(const Model& model, const Job& job, const std::vector<Match>& matches);

}  // namespace debrief::analyses::timeline_clock
