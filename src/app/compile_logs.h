// Which TORCH_TRACE logs a call of `debrief compile` is about, and which attempt of the job.
#pragma once

#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "compat/tlparse/plan.h"
#include "inputs/found_input.h"
#include "model/model.h"

namespace debrief {

// The newest regular file of a folder (--latest).
Result<std::string> NewestFile(const std::string& folder);

// Keeps the logs among what was found. A file that the user names is read as a log whatever it
// looks like.
void KeepLogs(const CompileOptions& options, bool is_folder, std::vector<FoundInput>& inputs);

// One try of the job to run: what one process life of each rank left.
struct CompileAttempt {
  int32_t number = 0;  // from 1, oldest first
  int64_t start_ns = kNone64;
  int64_t end_ns = kNone64;
  int32_t compilations = 0;
  int32_t failed = 0;
  int32_t unfinished = 0;
  std::vector<outputs::tlparse_tree::TreeScope> logs;  // in order of rank
  bool WentWrong() const { return failed > 0 || unfinished > 0; }
};

// In order of their number.
std::vector<CompileAttempt> FindAttempts(const Model& model);

// The one to show: the newest that went wrong, else the newest.
size_t ChooseAttempt(const std::vector<CompileAttempt>& attempts);

// A table of them for people, the one to show first.
std::string DescribeAttempts(const Model& model, const std::vector<CompileAttempt>& attempts,
                             size_t shown);

}  // namespace debrief
