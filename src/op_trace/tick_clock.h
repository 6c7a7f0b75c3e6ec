// Ticks of a recording as nanoseconds since 1970.
//
//   ticks     t0 ........ t1 ........ t2            of the header and of every chunk
//   steady    m0          m1          m2            piecewise linear in between
//   wall    = steady + the median of (wall - steady)
//
// The wall clock is not followed: it may be set while a program runs, and a span must not end
// before it began. A chunk whose times contradict the header's by more than a hundredth is not
// believed. Making one costs a sort of the chunks; asking it, a binary search.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/reader.h"

namespace debrief::op_trace {

class TickClock {
 public:
  explicit TickClock(const recorder::ReadRecording& recording);

  // Within 2^61 of 1970, whatever the ticks are; never falls when they rise.
  int64_t WallNs(uint64_t ticks) const;

  // How far the wall clock was set while the recording ran; 0 when it kept going.
  int64_t wall_step_ns() const { return wall_step_ns_; }
  // Chunks whose times were not believed.
  uint64_t contradictions() const { return contradictions_; }

 private:
  struct Point {
    uint64_t ticks;
    int64_t steady_ns;
  };
  void AddPoint(const recorder::ClockTriple& triple);
  bool Believed(const recorder::ClockTriple& triple) const;
  int64_t SteadyNs(uint64_t ticks) const;
  void SettleWall();

  recorder::ClockTriple opened_;
  uint64_t ticks_per_second_;
  std::vector<Point> points_;          // both rise
  std::vector<int64_t> wall_offsets_;  // wall - steady at each point
  int64_t wall_offset_ = 0;
  int64_t wall_step_ns_ = 0;
  uint64_t contradictions_ = 0;
};

}  // namespace debrief::op_trace
