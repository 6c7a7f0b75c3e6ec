#include "outputs/store/query.h"

#include <vector>

#include "outputs/store/handles.h"
#include "outputs/store/row_printer.h"

namespace debrief::outputs::store {

namespace {

class Query {
 public:
  Query(Database& database, const QueryOptions& options, TextSink& out)
      : api_(database.api()),
        connection_(database.connection()),
        options_(options),
        printer_(MakeRowPrinter(options, out)) {}

  Status Run(const std::string& sql);

 private:
  Status RunStatement(const Statements& statements, idx_t index, bool print);
  Status ReadColumns(Rows& rows);
  Status PrintRows(Rows& rows);
  Status Drain(Rows& rows);
  Status Print(Rows& rows);
  // Prints what max_rows still allows; false when rows are left over.
  bool PrintChunk(const Chunk& chunk);
  // Null at the end and after an error; RowsError() tells which.
  duckdb_data_chunk Fetch(Rows& rows) { return api_.fetch_chunk(rows.handle); }
  Status RowsError(Rows& rows);

  const DuckDbApi& api_;
  duckdb_connection connection_;
  const QueryOptions& options_;
  std::vector<ResultColumn> columns_;
  std::unique_ptr<RowPrinter> printer_;
  uint64_t printed_ = 0;
};

Status Query::Run(const std::string& sql) {
  Statements statements(api_);
  idx_t count = api_.extract_statements(connection_, sql.c_str(), &statements.handle);
  if (count == 0) {
    const char* message = api_.extract_statements_error(statements.handle);
    if (message != nullptr) return DuckDbError(message, Code::kUsage);
    return Status(Code::kUsage, "there is no SQL statement")
        .Remedy("Write for example SHOW TABLES.");
  }
  for (idx_t i = 0; i < count; ++i) TRY(RunStatement(statements, i, i + 1 == count));
  return {};
}

Status Query::RunStatement(const Statements& statements, idx_t index, bool print) {
  Prepared prepared(api_);
  if (api_.prepare_extracted_statement(connection_, statements.handle, index, &prepared.handle) !=
      DuckDBSuccess) {
    const char* message = api_.prepare_error(prepared.handle);
    return DuckDbError(message == nullptr ? "cannot prepare the statement" : message, Code::kUsage);
  }
  Rows rows(api_);
  if (api_.execute_prepared_streaming(prepared.handle, &rows.handle) != DuckDBSuccess) {
    return ResultError(api_, rows.handle, Code::kUsage);
  }
  return print ? Print(rows) : Drain(rows);
}

Status Query::Drain(Rows& rows) {
  while (true) {
    Chunk chunk(api_, Fetch(rows));
    if (chunk.handle == nullptr) return RowsError(rows);
  }
}

Status Query::Print(Rows& rows) {
  if (api_.result_return_type(rows.handle) == DUCKDB_RESULT_TYPE_QUERY_RESULT) {
    TRY(ReadColumns(rows));
    return PrintRows(rows);
  }
  TRY(Drain(rows));
  if (options_.format != QueryFormat::kJson) return {};
  printer_->Start(columns_);
  printer_->Finish(false);
  return {};
}

Status Query::ReadColumns(Rows& rows) {
  for (idx_t i = 0; i < api_.column_count(&rows.handle); ++i) {
    duckdb_logical_type logical = api_.column_logical_type(&rows.handle, i);
    auto type = ReadType(api_, logical);
    api_.destroy_logical_type(&logical);
    if (!type.ok()) return type.status();
    columns_.push_back({api_.column_name(&rows.handle, i), std::move(type).value()});
  }
  return {};
}

Status Query::PrintRows(Rows& rows) {
  printer_->Start(columns_);
  bool more = false;
  while (!more) {
    Chunk chunk(api_, Fetch(rows));
    if (chunk.handle == nullptr) break;
    more = !PrintChunk(chunk);
  }
  Status status = more ? Status() : RowsError(rows);
  printer_->Finish(more);
  return status;
}

bool Query::PrintChunk(const Chunk& chunk) {
  std::vector<VectorView> values;
  values.reserve(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    values.emplace_back(api_, columns_[i].type, api_.data_chunk_get_vector(chunk.handle, i));
  }
  uint64_t count = api_.data_chunk_get_size(chunk.handle);
  for (uint64_t row = 0; row < count; ++row) {
    if (options_.max_rows > 0 && printed_ == options_.max_rows) return false;
    printer_->Row(values, row);
    ++printed_;
  }
  return true;
}

Status Query::RowsError(Rows& rows) {
  const char* message = api_.result_error(&rows.handle);
  if (message == nullptr || *message == '\0') return {};
  return ResultError(api_, rows.handle, Code::kUsage);
}

}  // namespace

Status RunQuery(Database& database, const std::string& sql, const QueryOptions& options,
                TextSink& out) {
  return Query(database, options, out).Run(sql);
}

}  // namespace debrief::outputs::store
