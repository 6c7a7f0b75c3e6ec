// One value of any table, for outputs that show tables they do not know.
#pragma once

#include <cstdint>
#include <string>

#include "model/table.h"

namespace debrief {

struct Cell {
  enum Kind : uint8_t { kNull, kInteger, kReal, kFlag, kText };
  Kind kind = kNull;
  int64_t integer = 0;  // of kInteger and kFlag
  double real = 0;
  std::string text;  // of kText; a list is "[0, 1]", a stack one frame a line
};

// `row` is below table.size().
Cell ReadCell(const Pools& pools, const Table& table, size_t column, size_t row);

}  // namespace debrief
