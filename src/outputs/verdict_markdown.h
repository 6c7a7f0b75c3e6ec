// The verdict of one job as Markdown: what `debrief PATH --markdown` prints, and what the report's
// "Copy as Markdown" copies.
#pragma once

#include <string>

#include "model/model.h"
#include "outputs/job_verdicts.h"

namespace debrief {

// The first finding whole, what follows from it and the others folded. Of a job that has findings.
// `level` of its heading.
std::string VerdictMarkdown(const Model& model, const JobVerdict& verdict, int level);

}  // namespace debrief
