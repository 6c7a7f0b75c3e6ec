// What to tell about idle devices: one finding for a rule and a job, ranks together.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"
#include "model/timeline/device_time.h"
#include "model/timeline/idle_gaps.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_idle {

using timeline::Cause;
using timeline::Gap;
using timeline::kCauses;

// Calls that wait for the device from one place, and the gaps behind them.
struct Waits {
  std::string call;   // cudaStreamSynchronize
  std::string op;     // aten::item; empty when in none
  std::string frame;  // innermost line of Python outside of torch; empty when not recorded
  int64_t gaps = 0;
  int64_t idle_ns = 0;
  int64_t steps = 0;  // in which it left a gap; 0 when the timeline has no steps
};

// What the findings need of one timeline.
struct IdleStory {
  Identity who;
  int64_t span_ns = 0;  // of all devices together
  std::array<int64_t, kCauses> idle_ns = {};
  int64_t first_row = 0, end_row = 0;  // of profile_idle
  std::string busiest;                 // what the host did in gaps of cause host, by name
  int64_t busiest_ns = 0;
  std::vector<Waits> waits;    // the costliest first
  int64_t launch_gaps_ns = 0;  // gaps no longer than some launches take
  int64_t kernels = 0;
  int64_t median_kernel_ns = 0;
  bool has_stacks = false;
  bool has_steps = false;
};

void AddFindings(const std::vector<IdleStory>& stories, const Part& part,
                 std::vector<Finding>& findings);

}  // namespace debrief::analyses::profile_idle
