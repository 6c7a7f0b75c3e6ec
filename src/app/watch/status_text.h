// The state of a job as one line for people and as metrics for Prometheus (textfile collector).
#pragma once

#include <cstdint>
#include <string>

#include "app/watch/job_state.h"

namespace debrief::watch {

struct WatchFigures {
  size_t files = 0;
  uint64_t bytes_read = 0;
  size_t errors = 0;  // findings of the last analysis
  size_t warnings = 0;
  uint64_t analyses = 0;
  int64_t now_ns = 0;
  bool is_running = true;
};

// "step 1234  0.51 s/step  behind: rank 6  12 recompiles  quiet for 5 s  8 ranks, 24 files"
std::string StatusText(const JobState& state, const WatchFigures& figures);

std::string MetricsText(const JobState& state, const WatchFigures& figures);

}  // namespace debrief::watch
