// One side of a comparison: a run, one rank of it, or one compilation of it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "model/model.h"

namespace debrief::diff {

struct Side {
  const Model& model;
  std::string name;
  int32_t rank = kNone32;     // this rank alone; kNone32: all that both sides have
  int32_t attempt = kNone32;  // this attempt alone; kNone32: all
  std::string compile_id;     // this compilation alone; empty: all
  std::set<int32_t> ranks;    // that both sides have; filled by MatchRanks

  // Rows of no rank in particular belong to every side.
  bool Has(int32_t of_row) const {
    return of_row == kNone32 || (rank == kNone32 ? ranks.contains(of_row) : of_row == rank);
  }
  bool HasAttempt(int32_t of_row) const {
    return attempt == kNone32 || of_row == kNone32 || of_row == attempt;
  }
  template <typename Table>
  bool HasRow(const Table& table, size_t row) const {
    return HasAttempt(table.attempt[row]) && Has(table.rank[row]);
  }
  bool HasCompilation(std::string_view id) const { return compile_id.empty() || id == compile_id; }
  // What ranks are matched by.
  int32_t RankKey(int32_t of_row) const { return rank == kNone32 ? of_row : 0; }
  std::string_view Text(StringId id) const { return model.pools.Text(id); }
};

// Ranks that left something on both sides. Where each side has one rank and they differ, these two
// are compared. Returns a sentence about ranks that are left out; empty when none is.
std::string MatchRanks(Side& a, Side& b);

// Keeps to the newest attempt of a job that was started again. Returns a sentence about that; empty
// when there is one attempt.
std::string ChooseAttempt(Side& side);

// The name of a file without its folders: runs lie in different places.
std::string_view FileName(std::string_view path);

}  // namespace debrief::diff
