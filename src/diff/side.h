// One side of a comparison: a run, one rank of it, or one compilation of it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

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

// Names by which compilations of two runs are matched: the name of a function and of its file,
// without folders, since runs lie in different places. Functions of one name in one file (lambdas,
// methods) are numbered in the order of their lines: lines themselves move with every edit above.
class FunctionNames {
 public:
  explicit FunctionNames(const Side& side);

  // "forward (model.py)", of the second of that name "forward (model.py) #2". Empty where a side is
  // one compilation: whatever function that is, it is compared with the other.
  std::string Of(StringId function, StringId file, int32_t line) const;

  // Of a compilation of an input.
  std::string OfCompilation(int32_t input, StringId compile_id) const;

 private:
  const Side& side_;
  std::map<std::pair<std::string, std::string>, std::set<int32_t>> lines_;
  std::map<std::pair<int32_t, StringId>, size_t> rows_;  // of table compilation, by input and id
};

}  // namespace debrief::diff
