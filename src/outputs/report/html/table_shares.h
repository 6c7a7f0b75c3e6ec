// Tables as they are, with a bound on each, for views that show tables.
//
//   {"tables": {"compilation": {"total": 41, "rows": [{"rank": 0, "compile_id": "0/0", ...}]}},
//    "meanings": {"compilation": {"compile_id": "number of the compilation"}}}      when asked for
//
// web/src/run/tables.ts reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/model.h"

namespace debrief::outputs::html {

// How much of one table the page gets.
struct Share {
  std::string_view table;
  size_t rows;
  size_t bytes;                      // of JSON
  std::string_view largest = {};     // column by which rows are taken; empty: in their order
  std::string_view definition = {};  // only rows of this definition; empty: all
};

enum class Meanings : uint8_t { kLeftOut, kTold };  // what columns mean, in words

// Empty when none of the tables has a row. Same model, same bytes.
std::string TablesJson(const Model& model, std::span<const Share> shares,
                       Meanings meanings = Meanings::kLeftOut);

}  // namespace debrief::outputs::html
