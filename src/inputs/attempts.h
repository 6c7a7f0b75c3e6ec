// Tells the attempts of one job apart: the rules of assign_jobs.h, on times and ranks alone.
#pragma once

#include <cstdint>
#include <vector>

#include "base/pools/ids.h"

namespace debrief {

// What one input of the job tells.
struct AttemptClue {
  int64_t start_ns = kNone64;
  int32_t folder_attempt = kNone32;  // of a folder attempt_N around it
  int32_t rank = kNone32;
  bool one_per_process = false;  // two of these for one rank are two process lives
};

// The attempt of each input, from 0, oldest first. Cost: n log n.
std::vector<int32_t> TellAttemptsApart(const std::vector<AttemptClue>& clues);

}  // namespace debrief
