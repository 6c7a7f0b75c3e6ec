// Places where a cycle counter and the host's clock part for good: the counter was reset, or its
// upper half was lost, or stamps of two counters stand in one trace.
//
//   host    0   10   20   30   40 us        at 500 MHz 5000 cycles every 10 us
//   cycles  0 5000 10000 910015000 ...      a jump of 1.8 s behind 20 us
//
// Host times are late now and then, by milliseconds where the host was busy; such a sample comes
// back to the line. So the distance between the clocks around a place is compared by medians of a
// few samples on both sides.
//
// Cost: linear.
#pragma once

#include <cstddef>
#include <span>

#include "model/accel/frequency.h"

namespace debrief::accel {

struct CounterJumps {
  size_t count = 0;         // inside of jobs
  size_t between_jobs = 0;  // where one job ends and another begins
  double first_at_us = 0;   // of the host, the last sample before the first jump
  double first_us = 0;      // how far the counter goes ahead there; negative: back
  double mhz = 0;           // between jumps; 0 where there are too few samples
};

// `samples` sorted by host time.
CounterJumps FindCounterJumps(std::span<const ClockSample> samples);

}  // namespace debrief::accel
