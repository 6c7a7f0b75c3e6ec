// provenance_tracking_<directory>.html: the graphs and the code of a compilation side by side.
#pragma once

#include "compat/tlparse/file_sink.h"
#include "compat/tlparse/plan.h"

namespace debrief::outputs::tlparse_tree {

Status WriteProvenance(const Model& model, const TreePlan& plan, const Compilation& compilation,
                       FileSink& sink);

}  // namespace debrief::outputs::tlparse_tree
