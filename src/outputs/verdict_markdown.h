// The verdict of one job as Markdown: what `debrief PATH --markdown` prints, what `--with markdown`
// writes beside the report, and what the report's "Copy as Markdown" copies.
#pragma once

#include <cstdint>
#include <string>

#include "model/model.h"
#include "outputs/incident/incident.h"
#include "outputs/job_verdicts.h"

namespace debrief {

// Where the report keeps the incident picture of a job, seen from its folder.
std::string PicturePath(int32_t job);

struct MarkdownOptions {
  int level = 2;             // of the heading
  bool has_picture = false;  // it is read beside the report, whose picture it shows; else a sketch
  const incident::Incident* incident = nullptr;  // that of the job, where it is made already
};

// The first finding whole, what follows from it and the others folded. Of a job that has findings.
std::string VerdictMarkdown(const Model& model, const JobVerdict& verdict,
                            const MarkdownOptions& options);

}  // namespace debrief
