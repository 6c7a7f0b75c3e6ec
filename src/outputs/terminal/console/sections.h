// The parts of the console output, in the order in which they are printed.
#pragma once

#include "model/model.h"
#include "outputs/terminal/console/paper.h"

namespace debrief::outputs::console {

// Those of rules that begin with `rules`. Several jobs have a section each, the worst first.
void WriteFindings(const Model& model, std::string_view rules, Paper& paper);
void WriteJobs(const Model& model, Paper& paper);
void WriteDiagnostics(const Model& model, Paper& paper);
void WriteNotRun(const Model& model, Paper& paper);

}  // namespace debrief::outputs::console
