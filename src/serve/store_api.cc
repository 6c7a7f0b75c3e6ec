#include "serve/store_api.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/json/writer.h"
#include "base/text/strings.h"
#include "model/table.h"
#include "outputs/store/store.h"
#include "serve/sql_page.h"

namespace debrief::serve {

namespace {

using outputs::store::OpenStore;
using outputs::store::QuoteName;

constexpr uint64_t kDefaultRows = 200;
constexpr uint64_t kMaxOffset = uint64_t{1} << 60;

// A number of the query, or what stands for a missing one; nothing when it is no number.
std::optional<uint64_t> NumberOf(const Request& request, std::string_view name,
                                 uint64_t otherwise) {
  std::optional<std::string> text = QueryValue(request.query, name);
  if (!text) return otherwise;
  return ParseNumber<uint64_t>(*text);
}

constexpr const char* kListSql =
    "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE schema_name = 'main' "
    "AND NOT internal AND database_name = current_database() ORDER BY table_name, column_index";

struct StoredTable {
  std::string name;
  std::vector<std::pair<std::string, std::string>> columns;  // name and type
  std::string rows = "0";
};

Result<std::vector<StoredTable>> ListTables(outputs::store::Connection& connection,
                                            CancelToken& cancel) {
  ASSIGN_OR_RETURN(auto columns, ReadTexts(connection, kListSql, cancel));
  std::vector<StoredTable> tables;
  for (auto& column : columns) {
    if (tables.empty() || tables.back().name != column[0]) tables.push_back({column[0], {}});
    tables.back().columns.emplace_back(std::move(column[1]), std::move(column[2]));
  }
  return tables;
}

// In one statement for all: DuckDB counts from what it knows of a table, without reading rows.
Status CountRows(outputs::store::Connection& connection, CancelToken& cancel,
                 std::vector<StoredTable>& tables) {
  std::string sql;
  for (size_t i = 0; i < tables.size(); ++i)
    sql += fmt::format("{}SELECT {} AS i, count(*) AS n FROM main.{}",
                       sql.empty() ? "" : " UNION ALL ", i, QuoteName(tables[i].name));
  if (sql.empty()) return {};
  ASSIGN_OR_RETURN(auto counts, ReadTexts(connection, sql + " ORDER BY i", cancel));
  for (size_t i = 0; i < counts.size(); ++i) tables[i].rows = counts[i][1];
  return {};
}

std::string_view DocOf(const TableInfo* table, std::string_view column) {
  if (table == nullptr) return "";
  for (const ColumnInfo& one : table->columns) {
    if (one.name == column) return one.doc;
  }
  return "";
}

void WriteTable(const StoredTable& table, JsonWriter& json) {
  const TableInfo* known = FindTable(table.name);
  json.Field("name", table.name).Field("doc", known == nullptr ? "" : known->doc);
  json.Key("rows").Raw(table.rows);
  json.Objects("columns", table.columns, [&](const auto& column) {
    json.Field("name", column.first).Field("type", column.second);
    json.Field("doc", DocOf(known, column.first));
  });
}

// What DuckDB does not count (texts on their way, its own code and threads) has room beside it.
uint64_t DuckDbMegabytes() { return QueryMegabytes() * 7 / 8; }

}  // namespace

uint64_t QueryMegabytes() {
  uint64_t pages = static_cast<uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L));
  uint64_t page = static_cast<uint64_t>(std::max(sysconf(_SC_PAGESIZE), 1L));
  return std::clamp<uint64_t>(pages * page / 4 / 1'000'000, 256, 2000);
}

Response JsonResponse(int status, std::string body) {
  Response response;
  response.status = status;
  response.type = "application/json; charset=utf-8";
  response.body = std::move(body);
  return response;
}

Response CsvResponse(UniqueFd file, int64_t length) {
  Response response;
  response.file = std::move(file);
  response.length = length;
  response.type = "text/csv; charset=utf-8";
  response.headers.emplace_back("Content-Disposition", "attachment; filename=\"query.csv\"");
  return response;
}

Response ErrorResponse(const Status& status) {
  std::string body;
  std::string text = status.message();
  if (!status.remedy().empty()) text += ". " + status.remedy();
  JsonWriter(&body).BeginObject().Field("error", text).EndObject();
  return JsonResponse(400, body + "\n");
}

Result<outputs::store::Database> OpenForReaders(const std::string& folder) {
  outputs::store::OpenOptions options;
  options.external_access = false;
  options.locked = true;
  options.memory_mb = DuckDbMegabytes();
  auto opened = OpenStore(folder, options);
  if (!opened.ok() && opened.status().code() == Code::kNotFound)
    return Status(Code::kNotFound, "this report has no run.duckdb")
        .Remedy("Write the report again without --no-store.");
  return opened;
}

Result<outputs::store::Connection> StoreApi::Connect() {
  std::lock_guard lock(mutex_);
  if (!database_) {
    ASSIGN_OR_RETURN(database_, OpenForReaders(folder_));
  }
  return database_->Connect();
}

Result<std::string> StoreApi::TablesJson(CancelToken& cancel) {
  ASSIGN_OR_RETURN(auto connection, Connect());
  ASSIGN_OR_RETURN(auto tables, ListTables(connection, cancel));
  TRY(CountRows(connection, cancel, tables));
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Objects("tables", tables, [&](const StoredTable& table) { WriteTable(table, json); });
  json.EndObject();
  return out + "\n";
}

Response StoreApi::Tables(CancelToken& cancel) {
  {
    std::lock_guard lock(mutex_);
    if (!tables_.empty()) return JsonResponse(200, tables_);
  }
  auto made = TablesJson(cancel);
  if (!made.ok()) return ErrorResponse(made.status());
  std::lock_guard lock(mutex_);
  tables_ = std::move(made).value();
  return JsonResponse(200, tables_);
}

Response StoreApi::Query(const Request& request, CancelToken& cancel) {
  std::optional<std::string> sql = QueryValue(request.query, "sql");
  if (!sql || sql->empty())
    return ErrorResponse(Status(Code::kUsage, "write the statement as sql=..., percent-encoded"));
  auto limit = NumberOf(request, "limit", kDefaultRows);
  auto offset = NumberOf(request, "offset", 0);
  if (!limit || !offset || *limit == 0 || *limit > kMaxPageRows || *offset > kMaxOffset)
    return ErrorResponse(Status(
        Code::kUsage, fmt::format("limit is 1 to {}, offset a number from 0", kMaxPageRows)));
  auto connection = Connect();
  if (!connection.ok()) return ErrorResponse(connection.status());
  if (QueryValue(request.query, "format") == "csv") return Csv(connection.value(), *sql, cancel);
  int64_t start = clock_.NowNs();
  auto page = ReadPage(connection.value(), *sql, *limit, *offset, cancel);
  if (!page.ok()) return ErrorResponse(page.status());
  return JsonResponse(
      200,
      fmt::format("{{\"columns\": {}, \"rows\": {}, \"more\": {}, \"ms\": {}}}\n", page->columns,
                  page->rows, page->more ? "true" : "false", (clock_.NowNs() - start) / 1'000'000));
}

Response StoreApi::Csv(outputs::store::Connection& connection, const std::string& sql,
                       CancelToken& cancel) {
  int64_t length = 0;
  auto file = WriteCsv(connection, sql, temporary_, cancel, length);
  if (!file.ok()) return ErrorResponse(file.status());
  return CsvResponse(std::move(file).value(), length);
}

}  // namespace debrief::serve
