// The types of a DuckDB result and the memory of its vectors, read once so that printing a value is
// a switch and no call into the library: a ValueType is made once a column, a VectorView once a
// chunk.
//
// Types that no table of ours has and that SQL seldom gives (UNION, BIT, ...) are refused with a
// hint to cast, instead of a printer for each of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "outputs/store/duckdb_api.h"

namespace debrief::outputs::store {

struct ValueType {
  duckdb_type id = DUCKDB_TYPE_INVALID;
  duckdb_type storage = DUCKDB_TYPE_INVALID;  // of ENUM and DECIMAL: what the vector holds
  int scale = 0;                              // DECIMAL
  uint64_t array_size = 0;                    // ARRAY
  std::vector<std::string> names;             // ENUM: members; STRUCT: fields
  std::vector<ValueType> children;            // LIST, ARRAY: one; STRUCT: fields; MAP: key, value

  bool is_number = false;  // values are JSON numbers and stand to the right in a table
};

// As SQL writes it: "BIGINT", "VARCHAR[]"; the C API does not tell it.
std::string SqlName(const ValueType& type);

// Reads a type of the library; `type` stays the caller's. kUnsupported for types we do not print.
Result<ValueType> ReadType(const DuckDbApi& api, duckdb_logical_type type);

// The memory of one vector; valid as long as its chunk.
struct VectorView {
  VectorView(const DuckDbApi& api, const ValueType& value_type, duckdb_vector vector);

  bool IsNull(uint64_t row) const {
    return validity != nullptr && ((validity[row / 64] >> (row % 64)) & 1) == 0;
  }
  template <typename T>
  const T& At(uint64_t row) const {
    return static_cast<const T*>(data)[row];
  }

  const ValueType* type;
  const void* data;
  const uint64_t* validity;  // null: no nulls
  std::vector<VectorView> children;
};

// A value as text and as JSON: "NULL" and null for nulls. Text is bare in the text form, also
// inside lists ("[a, b]"), and quoted in JSON.
void AppendAsText(const VectorView& values, uint64_t row, std::string& out);
void AppendAsJson(const VectorView& values, uint64_t row, std::string& out);

// A number of bytes that both forms of a value have at least, found without building them; counting
// ends at `enough`.
uint64_t LeastBytes(const VectorView& values, uint64_t row, uint64_t enough);

}  // namespace debrief::outputs::store
