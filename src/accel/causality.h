// Work of a device and the calls of its host, recorded on two clocks: how far to move the work so
// that causes come before effects.
//
//   windows    [launch ....... end of wait]      [launch ...... end of wait]       the host's clock
//   work            =====  ====  ==                    =====  ====  ==             another clock
//
// A device works only behind a launch, and nothing runs any more when the call that waits for it
// has come back. An offset is allowed when all work lies inside of windows; offsets that leave a
// piece of work outside of one are forbidden:
//
//   (end of window - end of work, begin of next window - begin of work)
//
// The best offsets are those that fewest of these intervals cover. What is left open between the
// earliest and the latest of them is the residual.
//
// Cost: pieces of work times windows, at most kMostPairs; of more work every n-th piece is looked
// at, and all are counted in the end. Pieces closer together than any two windows are one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace debrief::accel {

// Microseconds.
struct WorkSpan {
  double begin = 0, end = 0;
};

struct Placement {
  bool found = false;       // an offset with nearly all work inside of windows
  bool agrees = false;      // 0 is one: nothing to move
  bool is_bounded = true;   // from above, by a wait
  double offset_us = 0;     // the middle of those that are allowed; without a bound the earliest
  double residual_us = 0;   // how far the right one may be from it
  size_t pieces = 0;        // of work, as they were told apart
  size_t outside = 0;       // that lie outside of windows even so
  size_t equally_good = 0;  // places that allow as much, this one included
};

// Windows in which work can be: from a launch to the end of the next wait. Launches and waits in
// order of their begin; a window that no wait ends is endless.
std::vector<WorkSpan> WindowsOf(std::span<const WorkSpan> launches,
                                std::span<const WorkSpan> waits);

// `work` in any order.
Placement PlaceWork(std::vector<WorkSpan> work, std::span<const WorkSpan> windows);

}  // namespace debrief::accel
