#include "recorder/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace debrief::recorder {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

uint64_t RealtimeNow() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

#if defined(__x86_64__)
// CPUID 8000'0007h, EDX bit 8: the counter runs at one rate in every power state.
bool HasInvariantTsc() {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
}
#endif

// Takes a millisecond.
uint64_t MeasureCounter() {
  const uint64_t from_ns = MonotonicNow();
  const uint64_t from = Now();
  uint64_t to_ns = from_ns;
  while (to_ns - from_ns < 1'000'000) to_ns = MonotonicNow();
  // In two parts: 128-bit division would be a call into another library.
  const uint64_t ticks = Now() - from;
  const uint64_t ns = to_ns - from_ns;
  return ticks / ns * kSecond + ticks % ns * kSecond / ns;
}

}  // namespace

constinit bool counter_is_even = false;

ClockKind PickClock() {
#if defined(__x86_64__)
  const bool even = HasInvariantTsc();
  __atomic_store_n(&counter_is_even, even, __ATOMIC_RELAXED);
  return even ? ClockKind::kTsc : ClockKind::kMonotonic;
#elif defined(__aarch64__)
  __atomic_store_n(&counter_is_even, true, __ATOMIC_RELAXED);
  return ClockKind::kCntvct;
#else
  return ClockKind::kMonotonic;
#endif
}

ClockTriple ReadTriple() {
  return {.ticks = Now(), .monotonic_ns = MonotonicNow(), .realtime_ns = RealtimeNow()};
}

uint64_t TicksPerSecond() {
  static constinit uint64_t measured = 0;
  if (measured == 0) measured = CounterIsEven() ? MeasureCounter() : kSecond;
  return measured;
}

}  // namespace debrief::recorder
