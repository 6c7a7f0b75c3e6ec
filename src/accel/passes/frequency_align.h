// How far the device events of each job lie outside of its host's wrapper (--flex_ts_fix).
#pragma once

#include <limits>
#include <unordered_map>

#include "accel/passes/helpers.h"

namespace debrief::accel {

struct TimeRange {
  double begin = std::numeric_limits<double>::infinity();
  double end = -std::numeric_limits<double>::infinity();

  bool is_set() const { return begin <= end; }
  double span() const { return end - begin; }
};

struct JobRanges {
  TimeRange host;    // events named "AIU Roundtrip"
  TimeRange device;  // events with cycle stamps
};

struct JobShifts {
  std::unordered_map<uint32_t, double> by_job;
};

}  // namespace debrief::accel
