// Values of a DuckDB result as text and as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "outputs/store/value_type.h"

namespace debrief::outputs::store {

// "NULL" and null for nulls. Text is bare in the text form, also inside lists ("[a, b]"), and
// quoted in JSON.
void AppendAsText(const VectorView& values, uint64_t row, std::string& out);
void AppendAsJson(const VectorView& values, uint64_t row, std::string& out);

}  // namespace debrief::outputs::store
