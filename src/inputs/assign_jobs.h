// Which job, attempt and rank each input belongs to.
//
// Rank: the file name if it says "rank3" in any form, else the content, else what the format puts
// into names, else a folder rank_3 or attempt_0/3.
//
// Job: a folder is a job, except that
//   - a folder named after its content (torch_trace, logs) belongs to the job above it, when that
//   has
//     inputs of its own or several such folders;
//   - folders of one pattern (node01, node02; rank_0, rank_1; attempt_0, attempt_1), or folders
//   whose
//     ranks complete each other without overlap (one folder per host), are one job;
//   - what lies below a folder inductor-spyre (files of the AIU's compiler, a folder a kernel)
//     belongs to the folder above that;
//   - inputs of one folder that were written by jobs of different world sizes are different jobs.
//
// Attempt: a second log of a kind that a process writes once, for the same rank, means that the job
// was started again. Starts in time tell which inputs belong together; what has no time belongs to
// the last attempt, because a restart overwrites files of fixed name. Folders attempt_N decide
// where they exist.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/pools/ids.h"
#include "inputs/found_input.h"
#include "model/model.h"

namespace debrief {

// Sets who.job, who.attempt, who.rank and host of every input, adds notes where name and content
// disagree, and fills the tables job, attempt and rank.
void AssignJobs(std::vector<FoundInput>& inputs, Model& model);

// ---- attempts.cc: tells the attempts of one job apart, by times and ranks alone.

// What one input of the job tells.
struct AttemptClue {
  int64_t start_ns = kNone64;
  int32_t folder_attempt = kNone32;  // of a folder attempt_N around it
  int32_t rank = kNone32;
  bool one_per_process = false;  // two of these for one rank are two process lives
};

// The attempt of each input, from 0, oldest first. Cost: n log n.
std::vector<int32_t> TellAttemptsApart(const std::vector<AttemptClue>& clues);

// ---- job_folders.cc: which folders make one job, by folders and ranks alone.

// What lies directly in one folder.
struct FolderContent {
  bool evidence = false;  // something other than notes: a known format, or a file with a rank
  bool unranked = false;  // evidence without a rank
  std::set<int32_t> ranks;
};

// For every folder the folder of its job: itself or one above it.
std::map<std::string, std::string> FoldFolders(const std::map<std::string, FolderContent>& folders);

}  // namespace debrief
