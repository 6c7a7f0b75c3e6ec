// Island "story": what the verdict's page shows besides the run itself.
#pragma once

#include <string>

#include "base/status.h"
#include "model/model.h"
#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// {"jobs": [{"job": 0, "svg": "<svg ...", "markdown": "## error: ..."}],
//  "evidence": {"f1": [[{"rank": 5, ...}], ...]}}   rows behind each sentence of a finding
//
// Where islands are files, the pictures are files of their own too, for tickets and notebooks:
// report_data/incident_0.svg.
Status AddStory(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html
