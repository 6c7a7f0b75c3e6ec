// Which job, attempt and rank each input belongs to, by evidence; names are hints.
//
// Rank: assign_ranks.h. Job: everything below the given paths is one job unless the data says
// otherwise (job_folders.h). Attempt: a second log of a kind that a process writes once, for the
// same rank, means that the job was started again; folders and names that say "attempt", and the
// launcher's text, tell it too. Times tell which inputs belong together; what has none belongs to
// the last attempt, because a restart overwrites files of fixed name.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/pools/ids.h"
#include "inputs/found_input.h"
#include "model/model.h"

namespace debrief {

// What the user decides instead.
struct JobChoice {
  bool one_job = false;                                    // everything is one
  std::vector<std::pair<std::string, std::string>> named;  // name of a job, pattern of its paths
};

// Sets who.job, who.attempt, who.rank and host of every input, adds notes where name and content
// disagree, and fills the tables job, attempt, rank and job_reason.
void AssignJobs(std::vector<FoundInput>& inputs, Model& model, const JobChoice& choice = {});

// ---- attempts.cc: tells the attempts of one job apart, by times and ranks alone.

// What one input of the job tells.
struct AttemptClue {
  int64_t start_ns = kNone64;
  int32_t named_attempt = kNone32;  // of a folder attempt_N around it, or of its name
  int32_t rank = kNone32;
  bool one_per_process = false;  // two of these for one rank are two process lives
  int64_t end_ns = kNone64;
  int32_t log = kNone32;  // equal for parts of one log that was rotated
};

// The attempt of each input, from 0, oldest first. `restarts`: when the launcher says that an
// attempt had failed and another one came. Cost: n log n.
std::vector<int32_t> TellAttemptsApart(const std::vector<AttemptClue>& clues,
                                       const std::vector<int64_t>& restarts = {});

}  // namespace debrief
