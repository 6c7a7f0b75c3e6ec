// Runs of one program beside each other: slurm-1001.out and slurm-1002.out, run1/ and run2/.
#pragma once

#include <vector>

#include "model/model.h"

namespace debrief::analyses::verdict {

// What failed in a run after which another one began is told as that: the newest run is what people
// ask about. Jobs that ran at one time, and those of which neither times nor numbers tell the
// order, are left as they are.
void MarkOlderRuns(const Model& model, std::vector<Finding>& findings);

}  // namespace debrief::analyses::verdict
