// The parts of the console output, in the order in which they are printed.
#pragma once

#include "model/model.h"
#include "outputs/console/paper.h"

namespace debrief::outputs::console {

void WriteFindings(const Model& model, Paper& paper);
void WriteJobs(const Model& model, Paper& paper);
void WriteDiagnostics(const Model& model, Paper& paper);
void WriteNotRun(const Model& model, Paper& paper);

}  // namespace debrief::outputs::console
