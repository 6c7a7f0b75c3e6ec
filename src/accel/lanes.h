// Lanes of one track: slices on a lane lie apart or inside each other, never half over each other.
//
//   track  [--------a--------]              lane 0  [--------a--------]
//               [--b--]                             [    [--b--]      ]
//                      [------c-----]       lane 1              [------c-----]
//
// Slices come sorted by start, longest first among equals. A slice stays on lane 0 where it fits;
// else it goes inside the tightest open slice that holds all of it, else to the lowest idle lane,
// else to a new one. There is no limit to the number of lanes.
//
// Cost: O(log lanes) a slice.
#pragma once

#include <cstddef>
#include <functional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

namespace debrief::accel {

class Lanes {
 public:
  // The lane of the slice [start, end).
  size_t Place(double start, double end);

  size_t count() const { return open_.size(); }

 private:
  void Close(double now);
  size_t FindLane(double end);

  std::vector<std::vector<double>> open_;          // by lane: ends of open slices, innermost last
  std::set<std::pair<double, size_t>> innermost_;  // (end, lane) of lanes that are not idle
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> idle_;
};

}  // namespace debrief::accel
