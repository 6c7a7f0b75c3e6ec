// What `debrief explain` shows: a finding, its evidence as rows and SQL, in three ways.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "model/finding.h"
#include "outputs/findings_reader.h"
#include "outputs/store/database.h"

namespace debrief {

// ---- Evidence of a finding as rows of the store, and the SQL that gives them.
//
// Evidence names a table and positions in it. The store keeps rows in that order, so the position
// is the rowid of `stored.<table>`, the table behind the view of docs/tables.md:
//
//   SELECT rowid AS row, rank, op, state FROM stored.comm_op WHERE rowid IN (3, 17) ORDER BY rowid

struct EvidenceRows {
  std::string sql;                              // empty: the evidence names no rows
  std::vector<std::string> columns;             // what people call them, "row" first
  std::vector<std::vector<std::string>> cells;  // by row, with units; null is empty
};

// A statement of FetchEvidence with a clause a line, none wider than `width`.
std::string SqlInLines(std::string_view sql, size_t width);

// The columns that say something: those with a value in at least one of the rows, without job and
// attempt, which the finding has itself, and without stacks, whose place it names. An error when
// the store has no such table.
Result<EvidenceRows> FetchEvidence(const Evidence& evidence, outputs::store::Database& database);

// The rows of `sql` as a JSON array of objects.
Result<std::string> RowsAsJson(const std::string& sql, outputs::store::Database& database);

// An error when the store is of another run than the finding: a report that was written without a
// store over an older one that had it.
Status CheckSameRun(const Finding& finding, size_t findings, outputs::store::Database& database);

// ---- One finding with its evidence as rows and SQL: what `debrief explain` shows, in three ways.

struct Explained {
  const WrittenFindings* run = nullptr;
  const Finding* finding = nullptr;
  std::string folder;                // of the report, as the user named it
  std::vector<EvidenceRows> rows;    // by evidence
  std::vector<std::string> as_json;  // by evidence: the rows as JSON
};

std::string ExplainedText(const Explained& explained, int width);
std::string ExplainedJson(const Explained& explained);
std::string ExplainedMarkdown(const Explained& explained);

}  // namespace debrief
