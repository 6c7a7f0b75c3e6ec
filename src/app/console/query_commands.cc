#include "app/console/query_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text/nearest.h"
#include "base/text/strings.h"
#include "model/table.h"

namespace debrief {

namespace {

using outputs::store::Database;
using outputs::store::QueryFormat;
using outputs::store::QuoteName;
using outputs::store::QuoteText;
using outputs::store::ReadCells;

constexpr std::string_view kDotCommands[] = {".columns", ".help", ".mode", ".quit", ".tables"};

constexpr std::string_view kHelp =
    ".tables          tables with rows, how many, and what a row is\n"
    ".tables all      those without rows, too\n"
    ".columns TABLE   its columns with type, unit and meaning\n"
    ".mode FORMAT     how rows are printed from now on: table, box, csv, json or markdown\n"
    ".quit            also Ctrl-D\n"
    "Anything else is SQL of DuckDB, up to a semicolon at the end of a line. Tab completes "
    "names.\n";

constexpr std::pair<std::string_view, QueryFormat> kFormats[] = {
    {"table", QueryFormat::kTable},
    {"box", QueryFormat::kBox},
    {"csv", QueryFormat::kCsv},
    {"json", QueryFormat::kJson},
    {"markdown", QueryFormat::kMarkdown}};

std::vector<std::string> TableNames() {
  std::vector<std::string> names;
  for (const TableInfo* table : AllTables()) names.emplace_back(table->name);
  std::sort(names.begin(), names.end());
  return names;
}

// One SELECT that gives the names and sizes of tables as the store has them.
Result<std::string> TablesSql(bool with_empty, Database& database) {
  ASSIGN_OR_RETURN(auto views, ReadCells(database,
                                         "SELECT view_name FROM duckdb_views() WHERE NOT internal "
                                         "ORDER BY view_name"));
  std::string sql;
  for (const auto& row : views) {
    const TableInfo* table = FindTable(row.front());
    sql += fmt::format("{}SELECT {} AS \"table\", count(*) AS \"rows\", {} AS meaning FROM {}",
                       sql.empty() ? "" : " UNION ALL ", QuoteText(row.front()),
                       QuoteText(table == nullptr ? "" : table->doc), QuoteName(row.front()));
  }
  if (sql.empty()) return Status(Code::kUsage, "the store has no table");
  return fmt::format("FROM ({}) {} ORDER BY \"table\"", sql,
                     with_empty ? "" : "WHERE \"rows\" > 0");
}

Result<std::string> ColumnsSql(std::string_view name) {
  const std::vector<std::string> names = TableNames();
  const TableInfo* table = FindTable(name);
  if (table == nullptr) {
    const std::string_view nearest = NearestName(name, names);
    return Status(Code::kUsage, fmt::format("there is no table {}", name))
        .Remedy(nearest.empty() ? "See .tables" : fmt::format("Did you mean {}?", nearest));
  }
  std::string rows;
  for (const ColumnInfo& column : table->columns) {
    rows += fmt::format("{}({}, {}, {}, {})", rows.empty() ? "" : ", ", QuoteText(column.name),
                        QuoteText(SqlTypeName(column.type)), QuoteText(UnitName(column.unit)),
                        QuoteText(column.doc));
  }
  return fmt::format("FROM (VALUES {}) AS described(\"column\", type, unit, meaning)", rows);
}

}  // namespace

bool IsDotCommand(std::string_view statement) { return Trimmed(statement).starts_with('.'); }

Result<DotCommand> ReadDotCommand(std::string_view statement, Database& database) {
  std::string_view line = Trimmed(statement, " \t\r\n;");
  const size_t blank = std::min(line.find(' '), line.size());
  const std::string_view command = line.substr(0, blank), argument = Trimmed(line.substr(blank));
  DotCommand read;
  if (command == ".tables") {
    ASSIGN_OR_RETURN(read.sql, TablesSql(argument == "all", database));
  } else if (command == ".columns" || command == ".schema") {
    ASSIGN_OR_RETURN(read.sql, ColumnsSql(argument));
  } else if (command == ".mode") {
    const std::vector<std::string> formats = QueryFormats();
    if (std::find(formats.begin(), formats.end(), argument) == formats.end())
      return Status(Code::kUsage, fmt::format(".mode is one of {}", fmt::join(formats, ", ")));
    read.format = argument;
  } else if (command == ".quit" || command == ".exit") {
    read.has_ended = true;
  } else if (command == ".help") {
    read.text = kHelp;
  } else {
    return Status(Code::kUsage, fmt::format("there is no {}", command))
        .Remedy(fmt::format("Choose from {}", fmt::join(kDotCommands, ", ")));
  }
  return read;
}

std::vector<std::string> CompleteName(std::string_view start) {
  std::vector<std::string> found;
  if (start.empty()) return found;
  auto add = [&](std::string_view name) {
    if (name.starts_with(start)) found.emplace_back(name);
  };
  for (std::string_view command : kDotCommands) add(command);
  for (const std::string& name : TableNames()) add(name);
  if (!found.empty()) return found;
  std::set<std::string_view> columns;
  for (const TableInfo* table : AllTables())
    for (const ColumnInfo& column : table->columns) columns.insert(column.name);
  for (std::string_view column : columns) add(column);
  return found;
}

std::vector<std::string> QueryFormats() {
  std::vector<std::string> names;
  for (const auto& [name, format] : kFormats) names.emplace_back(name);
  return names;
}

QueryFormat FormatOf(std::string_view name) {
  for (const auto& [known, format] : kFormats)
    if (known == name) return format;
  return QueryFormat::kTable;
}

}  // namespace debrief
