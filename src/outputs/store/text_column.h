// A column of ids (strings, lists, stacks) as the text that the store keeps.
//
// Text is what costs when a store is written. 5 M rows of six columns, two of them text, on two
// cores:
//
//   VARCHAR                                  2.2 s
//   ids, and a view that joins a dictionary  0.9 s    every query pays for every join of the view,
//                                                     also for the columns it does not ask for
//   ENUM of the distinct texts               0.9 s    what we do
//
// DuckDB stores an ENUM as a small number and its members once. The type of such a column holds all
// its members, differs from run to run and is unreadable in DESCRIBE; so the table with the codes
// stays in the schema `stored`, and a view with the plain name casts to what docs/tables.md says.
// The cast is free for columns that a query does not use, and 10 ns a row for those it does.
//
// Columns whose texts hardly repeat are plain VARCHAR. Lists and stacks go the same way as text:
//
//   string   the text
//   list     "[1, 2, 3]"                     the view casts it to BIGINT[]
//   stack    "file:line function" by lines   the view splits it into VARCHAR[]
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/pools/ids.h"
#include "model/table.h"

namespace debrief::outputs::store {

class TextColumn {
 public:
  // Looks at the ids of all rows once to choose between codes and plain text.
  TextColumn(const Pools& pools, ColumnType type, std::span<const uint32_t> ids);

  // Codes: row -> CodeOf(id), an index of members().
  bool coded() const { return !members_.empty(); }
  const std::vector<std::string>& members() const { return members_; }
  uint32_t CodeOf(uint32_t id) const { return codes_[id]; }

  // The text of an id other than none, valid UTF-8 without NUL: other bytes become U+FFFD. Appended
  // to `out`; false when bytes had to be replaced.
  bool AppendText(uint32_t id, std::string& out) const;

 private:
  // Numbers the distinct ids in order of first sight; false when there are more than `limit`.
  bool Number(std::span<const uint32_t> ids, size_t limit);
  void AppendStack(StackId id, std::string& out) const;

  const Pools& pools_;
  ColumnType type_;
  std::vector<uint32_t> codes_;       // by id
  std::vector<uint32_t> distinct_;    // ids in order of first sight
  std::vector<std::string> members_;  // texts by code
};

// The SQL expression that turns stored text back into a value of `type`; `name` is quoted already.
std::string DecodeExpression(ColumnType type, const std::string& name);

}  // namespace debrief::outputs::store
