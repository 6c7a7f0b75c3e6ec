// A table as the text that pandas makes of a data frame without its index: columns right aligned,
// one blank between them, fractions with as many digits as the column needs, six at most.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace debrief::accel {

struct Cell {
  enum class Kind : uint8_t { kInteger, kNumber, kText };

  explicit Cell(int64_t value) : kind(Kind::kInteger), integer(value) {}
  explicit Cell(double value) : kind(Kind::kNumber), number(value) {}
  explicit Cell(std::string value) : kind(Kind::kText), text(std::move(value)) {}

  Kind kind;
  int64_t integer = 0;
  double number = 0;
  std::string text;
};

struct Column {
  std::string name;
  std::vector<Cell> cells;  // of one kind
};

// Columns of the same length.
std::string PandasText(const std::vector<Column>& columns);

// Comma separated, floats as Python writes them.
std::string CommaSeparated(const std::vector<Column>& columns);

}  // namespace debrief::accel
