// The rank x sequence grids of the report: which groups, which columns, and the state of each cell.
//
// 512 ranks with 2000 entries each are a million cells, and a page with a million cells is slow to
// open and slow to send. A hang shows in the last sequences and around the first that did not
// complete, so a grid keeps those and the ones that findings are about, and groups beyond a bound
// are only counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"

namespace debrief::outputs::html {

inline constexpr size_t kMostGrids = 64;
inline constexpr size_t kMostColumns = 120;      // the last ones; the rest of a grid comes on top
inline constexpr size_t kGridBytes = 1'200'000;  // all cells together
inline constexpr size_t kNoRow = static_cast<size_t>(-1);

// What a member did in one match.
enum Cell : char {
  kCompleted = 'c',
  kScheduled = 's',
  kStarted = 't',
  kMissing = 'm',  // never issued
  kUnknown = 'u',  // no dump, or the ring no longer holds it
  kMismatch = 'x',
  kNotInIt = '.',  // takes no part: a send between two others
};

struct Column {
  size_t match = 0;        // row of comm_match
  size_t op_row = kNoRow;  // a row of comm_op that stands for the majority
};

// A member whose op differs from the column's.
struct Difference {
  size_t column = 0;
  size_t row = 0;
  size_t op_row = 0;
};

struct Grid {
  size_t match = 0;  // a row of comm_match that has job, attempt, name, description, role
  bool is_p2p = false;
  std::vector<int64_t> ranks;    // members, sorted: the rows
  std::vector<size_t> matches;   // all rows of comm_match, by sequence
  std::vector<size_t> mentions;  // findings about it, most important first
  size_t trouble = 0;            // matches that did not complete or do not agree
  std::vector<Column> columns;
  std::vector<std::string> cells;  // a Cell a column, by row
  std::vector<Difference> differences;
  std::vector<StackId> stacks;  // where it was issued, by row, then by column; kNone where not told

  size_t CellNumber(size_t row, size_t column) const { return row * columns.size() + column; }
};

struct Grids {
  std::vector<Grid> grids;  // those that findings are about, then with trouble, then by size
  size_t left_out = 0;
};

// Groups and columns, without cells. One pass over comm_match.
Grids ChooseGrids(const Model& model);

// The cells. One pass over comm_call.
void FillCells(const Model& model, std::vector<Grid>& grids);

// Both.
Grids MakeGrids(const Model& model);

}  // namespace debrief::outputs::html
