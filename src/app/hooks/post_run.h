// The program that gets findings.json once a report is written: --post-run, else post_run of
// hooks.toml.
#pragma once

#include <string>

#include "base/status.h"
#include "model/model.h"

namespace debrief {

// Before the process gives up programs. `command`: of the command line, where given ("" for none);
// `output`: the folder that will be written. What is wrong with the configuration is said by
// PostRun: it costs nobody a report.
Status PreparePostRun(const std::string* command, const std::string& output);

// Starts it with the findings of `model` on its stdin and waits for its end; nothing when none was
// prepared.
Status PostRun(const Model& model);

}  // namespace debrief
