// The run as JSON: the text of findings.json, of stdout under --json, and of the report's data
// island. docs/formats/findings_json.md describes every field. Same model, same bytes.
#pragma once

#include <string>

#include "model/model.h"

namespace debrief {

// `indent` 0 writes one line.
std::string RunJson(const Model& model, int indent);

}  // namespace debrief
