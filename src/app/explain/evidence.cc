#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "app/explain/explained.h"
#include "base/text/columns.h"
#include "base/text/strings.h"
#include "base/text/units.h"
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

// "2026-11-15 02:42:35.285812" of nanoseconds since 1970, in UTC.
std::string MomentText(int64_t ns) {
  const auto time = std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(ns));
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const int64_t micros = (ns / 1000) % 1'000'000;
  return fmt::format("{:04}-{:02}-{:02} {}.{:06}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     TimeOfDay(ns), micros);
}

// A cell as people read it. Nanoseconds are a moment where they can only be one: no job takes three
// years.
std::string ReadableCell(const std::string& cell, ColumnUnit unit) {
  constexpr int64_t kFirstMoment = 100'000'000'000'000'000;
  const auto number = ParseNumber<double>(cell);
  if (unit == ColumnUnit::kNone || !number) return cell;
  if (unit == ColumnUnit::kNs) {
    const auto whole = ParseNumber<int64_t>(cell);
    if (!whole) return DurationText(std::llround(*number));
    return *whole > kFirstMoment ? MomentText(*whole) : DurationText(*whole);
  }
  if (unit == ColumnUnit::kUs) return DurationText(std::llround(*number * 1e3));
  if (unit == ColumnUnit::kMs) return DurationText(std::llround(*number * 1e6));
  if (unit == ColumnUnit::kSeconds) return DurationText(std::llround(*number * 1e9));
  if (unit == ColumnUnit::kBytes) return BytesText(*number);
  if (unit == ColumnUnit::kShare) return PercentText(*number);
  if (unit == ColumnUnit::kPercent) return PercentText(*number / 100);
  return fmt::format("{} {}", cell, UnitName(unit));
}

}  // namespace

std::string SqlInLines(std::string_view sql, size_t width) {
  std::string text;
  for (std::string_view rest = sql; !rest.empty();) {
    size_t end = rest.size();
    for (std::string_view clause : {" FROM ", " WHERE ", " ORDER BY "})
      end = std::min(end, rest.find(clause));
    std::string_view indent = text.empty() ? "" : "\n";
    for (const std::string& line : Wrap(Trimmed(rest.substr(0, end)), width)) {
      text += fmt::format("{}{}", indent, line);
      indent = "\n  ";
    }
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return text;
}

Result<EvidenceRows> FetchEvidence(const Evidence& evidence, Database& database) {
  EvidenceRows rows;
  if (evidence.table.empty() || evidence.rows.empty()) return rows;
  const TableInfo* table = FindTable(evidence.table);
  if (table == nullptr) {
    return Status(Code::kNotFound, fmt::format("there is no table {}", evidence.table))
        .Remedy("Run debrief on the inputs again.");
  }
  ASSIGN_OR_RETURN(std::set<std::string> reserved, ReservedWords(database));
  std::vector<const ColumnInfo*> shown;
  std::vector<std::string> names;  // likewise, quoted
  for (const ColumnInfo& column : table->columns) {
    if (IsOfFinding(column)) continue;
    std::string name(column.name);
    shown.push_back(&column);
    names.push_back(reserved.contains(name) ? outputs::store::QuoteName(name) : name);
  }
  std::string where = Where(evidence);
  ASSIGN_OR_RETURN(Cells filled,
                   ReadCells(database, fmt::format("SELECT count({}) {}",
                                                   fmt::join(names, "), count("), where)));
  std::string chosen = "rowid AS row";
  rows.columns = {"row"};
  std::vector<ColumnUnit> units = {ColumnUnit::kNone};
  for (size_t i = 0; i < names.size(); ++i) {
    if (filled.front()[i] == "0") continue;
    chosen += ", " + names[i];
    rows.columns.emplace_back(shown[i]->label);
    units.push_back(shown[i]->unit);
  }
  rows.sql = fmt::format("SELECT {} {} ORDER BY rowid", chosen, where);
  ASSIGN_OR_RETURN(rows.cells, ReadCells(database, rows.sql));
  for (auto& cells : rows.cells) {
    for (size_t i = 0; i < cells.size(); ++i) cells[i] = ReadableCell(cells[i], units[i]);
  }
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
