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

// The same for the page, on one line: the inputs are a list of columns and a list of values for
// each of their rows, a third of the bytes when there are thousands.
std::string PageJson(const Model& model);

// The id of a run: a digest of its findings.json. The other parts of a report carry it, so that
// their readers notice a part of another run; the same inputs give the same id.
std::string RunId(std::string_view findings_json);
std::string RunId(const Model& model);

}  // namespace debrief
