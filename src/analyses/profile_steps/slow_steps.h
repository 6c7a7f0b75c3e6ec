// Steps that are clearly slower than the others of their rank, and what grew in them.
#pragma once

#include <vector>

#include "analyses/profile_steps/step_rows.h"
#include "model/finding.h"
#include "model/model.h"

namespace debrief::analyses::profile_steps {

// `first_row`: of the steps in the result's table profile_step.
void AddSlowSteps(const Identity& who, const std::vector<StepFigures>& steps, size_t first_row,
                  std::vector<Finding>& findings);

}  // namespace debrief::analyses::profile_steps
