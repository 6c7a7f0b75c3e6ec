#include "model/accel/cycle_clock.h"

#include <cmath>

namespace debrief::accel {

size_t StampAtStart(Phase by_suffix) {
  return by_suffix == Phase::kNone ? 0 : static_cast<size_t>(by_suffix);
}

size_t StampAtEnd(Phase by_suffix) {
  return by_suffix == Phase::kNone ? 4 : static_cast<size_t>(by_suffix) + 1;
}

size_t UnwrapWithin(CycleStamps& stamps) {
  size_t first = 0;
  for (size_t i = 1; i < stamps.size(); ++i) {
    if (stamps[i] >= stamps[i - 1]) continue;
    stamps[i] += kCounterSpan;
    if (first == 0) first = i;
  }
  return first;
}

int64_t WrapCounter::Wraps(double host_us, int64_t cycles) {
  int64_t wraps = 0;
  if (started_) {
    const double by_host = (host_us - last_host_us_) * mhz_;
    const double by_counter = static_cast<double>(cycles - last_cycles_);
    wraps = std::llround((by_host - by_counter) / static_cast<double>(kCounterSpan));
  }
  started_ = true;
  last_host_us_ = host_us;
  last_cycles_ = cycles + wraps * kCounterSpan;
  return wraps;
}

}  // namespace debrief::accel
