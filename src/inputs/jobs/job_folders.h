// Which inputs make one job, by where they lie and what they tell.
//
// From the deepest folders upwards: everything below a folder is one job, unless what lies in it
// contradicts (job_evidence.h). Where it does, the folder holds several jobs; then two of its parts
// are one job only if something says so:
//   - folders of one pattern (node01, node02) whose ranks do not overlap,
//   - parts of different kinds that the same process left,
//   - folders of one name below folders that are named after their content (logs/a beside fr/a).
// Inputs of one folder that tell different world sizes are different jobs.
#pragma once

#include <string>
#include <vector>

#include "inputs/jobs/job_evidence.h"

namespace debrief {

// Every input is in exactly one group. A group without strong evidence is of no job. Cost: n log n.
std::vector<JobGroup> AssembleJobs(const std::vector<InputEvidence>& inputs);

}  // namespace debrief
