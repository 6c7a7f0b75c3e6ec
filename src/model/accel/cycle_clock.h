// The cycle counter of a device: 32 bits wide, five stamps an event, unwrapped against host time.
//
//   TS1 ---DmaI--- TS2 ---Prep--- TS3 ---Exec--- TS4 ---DmaO--- TS5
//
// At 560 MHz the counter wraps every 7.7 s. Inside of an event a stamp below the one before it has
// wrapped. Across events the number of wraps follows from host time: it is the integer nearest to
// the distance between the time that passed on the host and the time that passed on the counter,
// taken at the stamp that the host time belongs to. The nearest integer, not the one below: host
// times are late by some microseconds, and an event that begins that close to a wrap would else be
// put one wrap (7.7 s) off. Right as long as host times err by less than half a wrap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/accel/dialect.h"

namespace debrief::accel {

inline constexpr int64_t kCounterSpan = int64_t{1} << 32;

using CycleStamps = std::array<int64_t, 5>;

// Index into CycleStamps of the stamp at which the host slice of such an event begins and ends.
size_t StampAtStart(Phase by_suffix);
size_t StampAtEnd(Phase by_suffix);

// Adds 2^32 to every stamp that lies before the one in front of it. The index of the first such
// stamp; 0 when there is none (the first stamp has none in front of it).
size_t UnwrapWithin(CycleStamps& stamps);

// Counts wraps of one counter. Every event becomes the reference of the next one, so that an error
// of the frequency grows with the gap between two events, not with the length of the trace.
class WrapCounter {
 public:
  explicit WrapCounter(double mhz) : mhz_(mhz) {}

  // Wraps before `cycles`, a stamp as UnwrapWithin left it, that the host saw at `host_us`;
  // relative to the first event, hence negative for one whose stamps lie in the wrap before.
  int64_t Wraps(double host_us, int64_t cycles);

 private:
  double mhz_;
  bool started_ = false;
  double last_host_us_ = 0;
  int64_t last_cycles_ = 0;  // unwrapped
};

}  // namespace debrief::accel
