// The run as JSON: the text of findings.json, of stdout under --json, and of the report's data
// island. docs/formats/findings_json.md describes every field. Same model, same bytes.
#pragma once

#include <string>
#include <string_view>

#include "model/model.h"

namespace debrief {

// Counts up when a field of findings.json is renamed, removed or changes its meaning; not for new
// ones (docs/formats/findings.schema.json).
inline constexpr int kFindingsSchema = 1;

// `indent` 0 writes one line.
std::string RunJson(const Model& model, int indent);

// The id of a run: a digest of its findings.json. The other parts of a report carry it, so that
// their readers notice a part of another run; the same inputs give the same id.
std::string RunId(std::string_view findings_json);
std::string RunId(const Model& model);

}  // namespace debrief
