#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "app/explained.h"
#include "model/table.h"
#include "outputs/output.h"
#include "outputs/store/query.h"

namespace debrief {

namespace {

using outputs::store::Database;
using outputs::store::ReadCells;
using Cells = std::vector<std::vector<std::string>>;

// Words of SQL that a column's name must be quoted for.
Result<std::set<std::string>> ReservedWords(Database& database) {
  ASSIGN_OR_RETURN(Cells rows, ReadCells(database,
                                         "SELECT keyword_name FROM duckdb_keywords() WHERE "
                                         "keyword_category IN ('reserved', 'type_function')"));
  std::set<std::string> words;
  for (const auto& row : rows) words.insert(row.front());
  return words;
}

bool IsOfFinding(const ColumnInfo& column) {
  return column.name == "job" || column.name == "attempt" || column.type == ColumnType::kStack;
}

std::string Where(const Evidence& evidence) {
  return fmt::format("FROM stored.{} WHERE rowid IN ({})", evidence.table,
                     fmt::join(evidence.rows, ", "));
}

}  // namespace

Result<EvidenceRows> FetchEvidence(const Evidence& evidence, Database& database) {
  EvidenceRows rows;
  if (evidence.table.empty() || evidence.rows.empty()) return rows;
  const TableInfo* table = FindTable(evidence.table);
  if (table == nullptr) {
    return Status(Code::kNotFound, fmt::format("there is no table {}", evidence.table))
        .Remedy("Run debrief on the inputs again.");
  }
  ASSIGN_OR_RETURN(std::set<std::string> reserved, ReservedWords(database));
  std::vector<std::string_view> shown;
  std::vector<std::string> names;  // likewise, quoted
  for (const ColumnInfo& column : table->columns) {
    if (IsOfFinding(column)) continue;
    std::string name(column.name);
    shown.push_back(column.name);
    names.push_back(reserved.contains(name) ? outputs::store::QuoteName(name) : name);
  }
  std::string where = Where(evidence);
  ASSIGN_OR_RETURN(Cells filled,
                   ReadCells(database, fmt::format("SELECT count({}) {}",
                                                   fmt::join(names, "), count("), where)));
  std::string chosen = "rowid AS row";
  rows.columns = {"row"};
  for (size_t i = 0; i < names.size(); ++i) {
    if (filled.front()[i] == "0") continue;
    chosen += ", " + names[i];
    rows.columns.push_back(std::string(shown[i]));
  }
  rows.sql = fmt::format("SELECT {} {} ORDER BY rowid", chosen, where);
  ASSIGN_OR_RETURN(rows.cells, ReadCells(database, rows.sql));
  return rows;
}

Result<std::string> RowsAsJson(const std::string& sql, Database& database) {
  StringSink sink;
  TRY(outputs::store::RunQuery(database, sql, {outputs::store::QueryFormat::kJson}, sink));
  std::string json = sink.text();
  json.erase(json.find_last_not_of('\n') + 1);
  return json;
}

Status CheckSameRun(const Finding& finding, size_t findings, Database& database) {
  ASSIGN_OR_RETURN(
      Cells rows,
      ReadCells(database,
                fmt::format("SELECT count(*), count(*) FILTER (WHERE finding = {} AND rule = {}) "
                            "FROM finding",
                            outputs::store::QuoteText(finding.id),
                            outputs::store::QuoteText(finding.rule))));
  if (rows.front() == std::vector<std::string>{fmt::format("{}", findings), "1"}) return {};
  return Status(Code::kChanged, "run.duckdb is of another run than findings.json")
      .Remedy("Run debrief on the inputs again, with --overwrite and without --no-store.");
}

}  // namespace debrief
