// The findings of a run by job: what is said of each, and which job has it worst.
//
// Several jobs under one path are several answers. A consequence that a finding of the same run
// explains is folded: it stands under its cause and not on its own.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"

namespace debrief {

struct JobVerdict {
  int32_t job = kNone32;         // kNone32: findings that are of no job, where there are several
  std::string name;              // of the job; "not assigned to a job"
  std::vector<size_t> findings;  // positions, the most important first; those that are folded last
  size_t told = 0;               // how many of them stand on their own
};

// One of every job, also of those without findings, the worst first; ties in order of job. Only
// findings of rules that begin with `rules`.
std::vector<JobVerdict> JobVerdicts(const Model& model, std::string_view rules = "");

}  // namespace debrief
