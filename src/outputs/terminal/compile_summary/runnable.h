// fx_graph_runnable artifacts as Python files that compile.
#pragma once

#include <string>

#include "base/status.h"
#include "model/model.h"

namespace debrief::outputs::compile_summary {

// Writes FOLDER/<graph directory>_<n>.py for each, with rank_<R>_ in front where there are several
// ranks. Returns how many.
Result<int> WriteRunnables(const Model& model, const std::string& folder);

}  // namespace debrief::outputs::compile_summary
