// Values and rows of any table, for outputs that show tables they do not know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/writer.h"
#include "model/model.h"
#include "model/table.h"

namespace debrief {

struct Cell {
  enum Kind : uint8_t { kNull, kInteger, kReal, kFlag, kText };
  Kind kind = kNull;
  int64_t integer = 0;  // of kInteger and kFlag
  double real = 0;
  std::string text;  // of kText; a list is "[0, 1]", a stack one frame a line
};

// The number of a column; none where the table has no such.
std::optional<size_t> FindColumn(const TableInfo& table, std::string_view name);

// `row` is below table.size().
Cell ReadCell(const Pools& pools, const Table& table, size_t column, size_t row);

// What rows are sorted by: a number, or -1 for null and for text.
double SortKey(const Cell& cell);

// Rows of any table as JSON objects: {"rank": 0, "compile_id": "0/0", "ranks": [1, 2], ...}. Null
// values are left out; a stack is a list of "file:line in function", innermost first.
// Writes one object. `row` is below table.size().
void WriteRow(const Model& model, const Table& table, size_t row, JsonWriter& json);

// Writes an array of the first `most` rows.
void WriteRows(const Model& model, const Table& table, size_t most, JsonWriter& json);

}  // namespace debrief
