// DuckDB reads the rows as JSON lines from a file beside the result: its JSON reader is faster than
// INSERT statements by two orders of magnitude, and no text of an input becomes part of a
// statement.
#include "app/flight_database.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>

#include "app/workshop.h"
#include "base/bytes/output_file.h"
#include "outputs/store/database.h"

namespace debrief {

namespace {

using outputs::flight_text::FlatSink;
using outputs::flight_text::FlatTable;
using outputs::flight_text::FlightTextOptions;
using outputs::flight_text::WriteFlatJson;
using outputs::flight_text::WriteFlatPickle;
using outputs::store::Database;
using outputs::store::QuoteName;
using outputs::store::QuoteText;

std::string CreateStatement(const FlatTable& table, const std::string& rows) {
  std::string columns;
  std::string types;
  for (const auto& column : table.columns) {
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", QuoteName(column.name),
                           column.sql_type);
    types += fmt::format("{}{}: {}", types.empty() ? "" : ", ", QuoteName(column.name),
                         QuoteText(column.sql_type));
  }
  return fmt::format(
      "CREATE TABLE {0} ({1}); INSERT INTO {0} SELECT * FROM read_json({2}, "
      "format='newline_delimited', maximum_object_size=268435456, columns={{{3}}})",
      QuoteName(table.name), columns, QuoteText(rows), types);
}

using Write = Status (*)(const Model&, const FlightTextOptions&, bool,
                         const std::function<Status(std::string_view)>&);

Status WriteFile(Write write, const Model& model, const FlightTextOptions& options, bool compat,
                 const std::string& path) {
  ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  TRY(write(model, options, compat, [&](std::string_view piece) { return file.Append(piece); }));
  return file.Finish();
}

// Every table through a file of JSON lines.
class DuckDbSink final : public FlatSink {
 public:
  DuckDbSink(Database& database, std::string rows) : database_(database), rows_(std::move(rows)) {}

  Status Begin(const FlatTable&) override {
    ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(rows_));
    file_.emplace(std::move(file));
    return {};
  }

  Status Row(std::string_view json) override {
    TRY(file_->Append(json));
    return file_->Append("\n");
  }

  Status End(const FlatTable& table) override {
    TRY(file_->Finish());
    file_.reset();
    return database_.Execute(CreateStatement(table, rows_));
  }

 private:
  Database& database_;
  std::string rows_;
  std::optional<OutputFile> file_;
};

Status WriteDuckDb(const Model& model, const FlightTextOptions& options, bool compat,
                   const std::string& path) {
  Workshop workshop;
  TRY(workshop.Open(path));
  const std::string file = workshop.File("flight.duckdb");
  ASSIGN_OR_RETURN(Database database, Database::Open(file, {outputs::store::OpenMode::kReadWrite}));
  DuckDbSink sink(database, workshop.File("rows"));
  TRY(WriteFlatTables(model, options, compat, sink));
  TRY(database.Execute("CHECKPOINT"));
  database.Close();
  if (rename(file.c_str(), path.c_str()) == 0) return {};
  return Status(Code::kIo, fmt::format("cannot write: {}", std::strerror(errno))).At({path});
}

}  // namespace

Status CheckDatabaseName(const std::string& path) {
  if (path != "-") return {};
  return Status(Code::kUsage, "-o -: the database goes to a file, not to stdout")
      .Remedy("Name a file: .json, .duckdb, or any other name for a pickle.");
}

Status WriteFlatDatabase(const Model& model, const FlightTextOptions& options, bool compat,
                         const std::string& path) {
  if (path.ends_with(".duckdb")) return WriteDuckDb(model, options, compat, path);
  const bool is_json = path.ends_with(".json") || path.ends_with(".json.gz");
  return WriteFile(is_json ? WriteFlatJson : WriteFlatPickle, model, options, compat, path);
}

}  // namespace debrief
