// How fast the cycle counter of a device runs, from the events that carry its stamps.
//
//   host    |-- duration --| end                two ways to tell:
//   counter TSi ---------- TSj                  (TSj - TSi) / duration, one event at a time
//                                               TSj against end, a line over all events
//
// Some runtimes compute the host times of an event from its stamps. Then single durations tell the
// rate exactly, and agree with each other; the line may be far off where stamps do not go on with
// the time of the host (a counter that was reset, records that were copied). Where the durations
// come from a clock of their own they scatter, and the line over the whole file is the better one.
//
// Cost: sorts the events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/pools/ids.h"

namespace debrief::accel {

struct TimedCycles {
  int64_t host_end_ns = 0;
  int64_t host_duration_ns = 0;
  int64_t end_cycles = 0;  // of the counter at host_end_ns; wraps do not matter
  int64_t cycles = 0;      // that passed during the event
};

struct CounterRate {
  double mhz = kNoDouble;
  std::string_view told_by = "none";  // host, durations, none
  size_t events = 0;
  double duration_mhz = kNoDouble;
  double duration_spread_pct = kNoDouble;  // median distance of single events from it
  double host_mhz = kNoDouble;
  int64_t residual_ns = kNone64;  // median distance of ends from the line
  int64_t span_ns = kNone64;
};

// `events` sorted by host_end_ns.
CounterRate RateOf(std::span<const TimedCycles> events);

}  // namespace debrief::accel
