// Rows of any table as JSON objects: {"rank": 0, "compile_id": "0/0", "ranks": [1, 2], ...}. Null
// values are left out; a stack is a list of "file:line in function", innermost first.
#pragma once

#include <cstddef>

#include "base/json/writer.h"
#include "model/model.h"

namespace debrief {

// Writes one object. `row` is below table.size().
void WriteRow(const Model& model, const Table& table, size_t row, JsonWriter& json);

// Writes an array of the first `most` rows.
void WriteRows(const Model& model, const Table& table, size_t most, JsonWriter& json);

}  // namespace debrief
