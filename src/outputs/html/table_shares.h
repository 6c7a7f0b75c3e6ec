// Tables as they are, with a bound on each, for views that show tables.
//
//   {"tables": {"compilation": {"total": 41, "rows": [{"rank": 0, "compile_id": "0/0", ...}]}}}
//
// web/src/run/tables.ts reads it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "model/model.h"

namespace debrief::outputs::html {

// How much of one table the page gets.
struct Share {
  std::string_view table;
  size_t rows;
  size_t bytes;                   // of JSON
  std::string_view largest = {};  // column by which rows are taken; empty: in their order
};

// Empty when none of the tables has a row. Same model, same bytes.
std::string TablesJson(const Model& model, std::span<const Share> shares);

}  // namespace debrief::outputs::html
