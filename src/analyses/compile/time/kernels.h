// Kernels and the choices among them: the few events and artifacts whose payloads tell.
#pragma once

#include <vector>

#include "analyses/compile/time/phases.h"
#include "model/model.h"

namespace debrief::analyses::compile_time {

// Adds rows of compile_kernel and compile_autotune, and gives phases that name no compilation the
// one that their payload names. Reads the payloads of artifacts triton_kernel_info and of the ends
// of tuning phases: some hundred bytes each, a few for each compilation.
void AddKernels(const Model& model, std::vector<Phase>& phases, Part& part);

}  // namespace debrief::analyses::compile_time
