// The cells of a sheet before they become text: one row of the table each, or rows of all ranks
// summed.
#pragma once

#include <span>
#include <vector>

#include "outputs/table_cell.h"
#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

struct GridCell {
  Cell cell;
  Cell whole;  // what it is shown as a share of; null: of nothing
  ColumnUnit unit = ColumnUnit::kNone;
};

struct GridColumn {
  const ColumnInfo* info = nullptr;
  std::vector<GridCell> cells;  // by row
};

struct Grid {
  std::vector<GridColumn> columns;
  size_t rows = 0;
  size_t ranks = 0;  // that were summed; 0: none was
};

// `rows` as they are.
Grid GridOfRows(const Model& model, const Table& table, const Sheet& sheet,
                std::span<const size_t> rows);

// One row for all rows that agree in sheet.sum_by, the largest first. No rows when there is but one
// rank: nothing is to be summed.
Grid GridOfSums(const Model& model, const Table& table, const Sheet& sheet,
                std::span<const size_t> rows);

}  // namespace debrief::outputs::profile_sheets
