// The run as JSON: the text of findings.json, of stdout under --json, and of the report's data
// island. docs/formats/findings_json.md describes every field. Same model, same bytes.
#pragma once

#include <string>

#include "model/model.h"

namespace debrief {

// Counts up when a field of findings.json is renamed, removed or changes its meaning; not for new
// ones (docs/formats/findings.schema.json).
inline constexpr int kFindingsSchema = 1;

// `indent` 0 writes one line.
std::string RunJson(const Model& model, int indent);

}  // namespace debrief
