// Island "story": what the verdict's page shows besides the run itself.
#pragma once

#include <string>

#include "base/status.h"
#include "model/model.h"
#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// {"jobs": [{"job": 0, "svg": "<svg ...", "markdown": "## error: ..."}],
//  "evidence": {"f1": [[{"rank": 5, ...}], ...]}}   rows behind each sentence of a finding
std::string StoryJson(const Model& model);

// The pictures as files of their own, report_data/incident_0.svg, for tickets and notebooks.
Status WriteIncidents(const Model& model, const std::string& folder);

}  // namespace debrief::outputs::html
