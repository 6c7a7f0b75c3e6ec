#include "outputs/store/query.h"

#include <fmt/format.h>

#include <utility>

namespace debrief::outputs::store {

namespace {

// At the end of the rows: whether it was one.
Status RowsError(Rows& rows) {
  const char* message = rows.api.result_error(&rows.handle);
  if (message != nullptr && *message != '\0')
    return ResultError(rows.api, rows.handle, Code::kUsage);
  const std::string thrown = ThrownText();
  return thrown.empty() ? Status() : DuckDbError(thrown, Code::kUsage);
}

Status Drain(Rows& rows) {
  while (true) {
    const Chunk chunk(rows.api, rows.api.fetch_chunk(rows.handle));
    if (chunk.handle == nullptr) return RowsError(rows);
  }
}

bool GivesRows(const Rows& rows) {
  return rows.api.result_return_type(rows.handle) == DUCKDB_RESULT_TYPE_QUERY_RESULT;
}

Status Print(Rows& rows, const QueryOptions& options, RowPrinter* printer) {
  ASSIGN_OR_RETURN(const std::vector<ResultColumn> columns, ReadColumns(rows));
  printer->Start(columns);
  uint64_t printed = 0;
  bool more = false;
  Status status = ForEachRow(rows, columns, [&](std::span<const VectorView> values, uint64_t row) {
    more = options.max_rows > 0 && printed == options.max_rows;
    if (!more) printer->Row(values, row);
    ++printed;
    return Result<bool>(!more);
  });
  printer->Finish(more);
  return status;
}

// Keeps all rows as texts; those of nulls are empty.
class CellReader final : public RowPrinter {
 public:
  void Start(const std::vector<ResultColumn>&) override {}
  void Row(std::span<const VectorView> values, uint64_t row) override {
    auto& texts = cells.emplace_back(values.size());
    for (size_t i = 0; i < values.size(); ++i)
      if (!values[i].IsNull(row)) AppendAsText(values[i], row, texts[i]);
  }
  void Finish(bool) override {}

  std::vector<std::vector<std::string>> cells;
};

// `printer_of` makes the printer of the rows of a statement.
using PrinterOf = std::function<RowPrinter*(idx_t statement, idx_t count)>;

// DuckDB's logging goes on when a statement has ended, and what it cannot write it throws from
// destructors, which ends the program. So words that switch it on are refused, wherever they stand:
// statements of all kinds have some.
Status CheckLogging(std::string_view sql) {
  std::string lower(sql);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (std::string_view word : {"enable_logging", "logging_storage"}) {
    if (lower.find(word) != std::string::npos)
      return Status(Code::kUsage, fmt::format("{} of DuckDB is not available here", word));
  }
  return {};
}

Status Run(Database& database, const std::string& sql, const QueryOptions& options,
           const PrinterOf& printer_of) {
  const DuckDbApi& api = database.api();
  Statements statements(api);
  const idx_t count =
      api.extract_statements(database.connection(), sql.c_str(), &statements.handle);
  if (count == 0) {
    const char* message = api.extract_statements_error(statements.handle);
    if (message != nullptr) return DuckDbError(message, Code::kUsage);
    return Status(Code::kUsage, "there is no SQL statement")
        .Remedy("Write for example SHOW TABLES.");
  }
  for (idx_t i = 0; i < count; ++i) {
    Prepared prepared(api);
    TRY(PrepareStatement(database.connection(), statements, i, prepared));
    Rows rows(api);
    if (api.execute_prepared_streaming(prepared.handle, &rows.handle) != DuckDBSuccess)
      return ResultError(api, rows.handle, Code::kUsage);
    RowPrinter* printer = GivesRows(rows) ? printer_of(i, count) : nullptr;
    TRY(printer != nullptr ? Print(rows, options, printer) : Drain(rows));
  }
  return {};
}

}  // namespace

Status PrepareStatement(duckdb_connection connection, const Statements& statements, idx_t index,
                        Prepared& prepared) {
  const DuckDbApi& api = prepared.api;
  (void)ThrownText();  // of an earlier statement
  if (api.prepare_extracted_statement(connection, statements.handle, index, &prepared.handle) ==
      DuckDBSuccess)
    return {};
  const char* message = api.prepare_error(prepared.handle);
  return DuckDbError(message == nullptr ? ThrownText() : message, Code::kUsage);
}

Result<std::vector<ResultColumn>> ReadColumns(Rows& rows) {
  std::vector<ResultColumn> columns;
  for (idx_t i = 0; i < rows.api.column_count(&rows.handle); ++i) {
    const LogicalType logical(rows.api, rows.api.column_logical_type(&rows.handle, i));
    ASSIGN_OR_RETURN(ValueType type, ReadType(rows.api, logical.handle));
    columns.push_back({rows.api.column_name(&rows.handle, i), std::move(type)});
  }
  return columns;
}

Status ForEachRow(Rows& rows, const std::vector<ResultColumn>& columns, const OnRow& on_row) {
  while (true) {
    const Chunk chunk(rows.api, rows.api.fetch_chunk(rows.handle));
    if (chunk.handle == nullptr) return RowsError(rows);
    std::vector<VectorView> values;
    values.reserve(columns.size());
    for (size_t i = 0; i < columns.size(); ++i)
      values.emplace_back(rows.api, columns[i].type,
                          rows.api.data_chunk_get_vector(chunk.handle, i));
    const uint64_t count = rows.api.data_chunk_get_size(chunk.handle);
    for (uint64_t row = 0; row < count; ++row) {
      ASSIGN_OR_RETURN(bool more, on_row(values, row));
      if (!more) return {};
    }
  }
}

Status RunQuery(Database& database, const std::string& sql, const QueryOptions& options,
                TextSink& out) {
  TRY(CheckLogging(sql));
  std::unique_ptr<RowPrinter> printer;
  TRY(Run(database, sql, options, [&](idx_t, idx_t) {
    if (printer != nullptr && options.format != QueryFormat::kJson) out.Write("\n");
    printer = MakeRowPrinter(options, out);
    return printer.get();
  }));
  if (printer == nullptr && options.format == QueryFormat::kJson) out.Write("[]\n");
  return {};
}

Result<std::vector<std::vector<std::string>>> ReadCells(Database& database,
                                                        const std::string& sql) {
  CellReader reader;
  TRY(Run(database, sql, {}, [&](idx_t statement, idx_t count) {
    return statement + 1 == count ? &reader : nullptr;
  }));
  return std::move(reader.cells);
}

}  // namespace debrief::outputs::store
