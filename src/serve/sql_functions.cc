#include "serve/sql_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/strings.h"
#include "outputs/store/database.h"

namespace debrief::serve {

namespace {

// Names with these beginnings describe the catalog, and no more.
constexpr std::array<std::string_view, 2> kPrefixes = {"duckdb_", "pragma_"};
constexpr std::array<std::string_view, 13> kTableFunctions = {
    "generate_series",  "histogram",  "histogram_values", "icu_calendar_names",
    "json_each",        "json_tree",  "query_table",      "range",
    "repeat",           "repeat_row", "summary",          "unnest",
    "pg_timezone_names"};
constexpr std::array<std::string_view, 1> kRefused = {"write_log"};

bool IsAllowedTable(std::string_view name) {
  return IsOneOf(name, kTableFunctions) || StartsWithAny(name, kPrefixes);
}

Status Refuse(std::string_view name) {
  return Status(Code::kUsage, fmt::format("the function {} is not run here", name))
      .Remedy("Functions that only read are: range, unnest, json_each, duckdb_tables, ...");
}

}  // namespace

std::string ParseSql(std::string_view sql) {
  return fmt::format("SELECT json_serialize_sql({})", outputs::store::QuoteText(sql));
}

// The tree's own keys are found by their quotes: those of a text of the statement are escaped.
Status CheckFunctions(std::string_view tree) {
  constexpr std::string_view kTable = "\"type\":\"TABLE_FUNCTION\"", kName = "\"function_name\":\"";
  if (!tree.starts_with("{\"error\":false"))
    return Status(Code::kUsage,
                  "only statements that read are run here: SELECT, FROM, WITH, DESCRIBE, SHOW")
        .Remedy("A PIVOT needs its values named: PIVOT ... ON column IN (...).");
  size_t table = tree.find(kTable);
  for (size_t at = tree.find(kName); at != std::string_view::npos; at = tree.find(kName, at)) {
    const bool is_table = table < at;
    at += kName.size();
    const std::string_view name = tree.substr(at, tree.find('"', at) - at);
    if (is_table ? !IsAllowedTable(name) : IsOneOf(name, kRefused)) return Refuse(name);
    if (is_table) table = tree.find(kTable, at);
  }
  return {};
}

}  // namespace debrief::serve
