// The verdict of one job in a few lines: who, what, how sure, what the ranks were doing, why, what
// to do; then other findings, a line each.
#pragma once

#include "model/model.h"
#include "outputs/job_verdicts.h"
#include "outputs/output.h"
#include "outputs/terminal/console/paper.h"

namespace debrief::outputs::console {

// `verdict` has findings that are told; `behind`: lines that follow and belong to it.
void WriteStory(const Model& model, const JobVerdict& verdict, const OutputContext& context,
                size_t behind, Paper& paper);

// "inputs   10 inputs, world size 8: 8 Flight Recorder dumps, 2 compile logs (ranks 0 and 5)".
void WriteInputsLine(const Model& model, Paper& paper);

}  // namespace debrief::outputs::console
