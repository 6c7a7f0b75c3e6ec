// The clock of a recording: the processor's own counter where it runs evenly, else CLOCK_MONOTONIC.
//
// One read of the counter costs 10 to 30 ns on a virtual machine and is most of what a record
// costs.
#pragma once

#include <time.h>

#include "recorder/format.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace debrief::recorder {

// Set by PickClock() before the first record; until then the monotonic clock is read.
extern constinit bool counter_is_even;

inline uint64_t MonotonicNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

inline bool CounterIsEven() {
  return __builtin_expect(__atomic_load_n(&counter_is_even, __ATOMIC_RELAXED), 1);
}

inline uint64_t Now() {
#if defined(__x86_64__)
  if (CounterIsEven()) return __rdtsc();
#elif defined(__aarch64__)
  if (CounterIsEven()) {
    uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
  }
#endif
  return MonotonicNow();
}

ClockKind PickClock();
ClockTriple ReadTriple();
// Measured once a process, for a millisecond. With the recording's lock held.
uint64_t TicksPerSecond();

}  // namespace debrief::recorder
