// DuckDB reads the rows as JSON lines from a file beside the result: its JSON reader is faster than
// INSERT statements by two orders of magnitude, and no text of an input becomes part of a
// statement.
#include "app/flight_database.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "app/workshop.h"
#include "base/bytes/growing_file.h"
#include "outputs/store/database.h"

namespace debrief {

namespace {

using outputs::flight_text::FlatTable;
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

Status WriteTable(const FlatTable& table, const std::string& rows, Database& database) {
  std::string lines;
  for (const std::string& row : table.rows) lines += row + "\n";
  TRY(WriteFileAtomically(rows, lines));
  return database.Execute(CreateStatement(table, rows));
}

Status WriteDuckDb(const std::vector<FlatTable>& tables, const std::string& path) {
  Workshop workshop;
  TRY(workshop.Open(path));
  const std::string file = workshop.File("flight.duckdb");
  ASSIGN_OR_RETURN(Database database, Database::Open(file, {outputs::store::OpenMode::kReadWrite}));
  for (const FlatTable& table : tables) TRY(WriteTable(table, workshop.File("rows"), database));
  TRY(database.Execute("CHECKPOINT"));
  database.Close();
  if (rename(file.c_str(), path.c_str()) == 0) return {};
  return Status(Code::kIo, fmt::format("cannot write: {}", std::strerror(errno))).At({path});
}

}  // namespace

Status CheckDatabaseName(const std::string& path) {
  if (path.ends_with(".json") || path.ends_with(".duckdb")) return {};
  return Status(Code::kUsage, fmt::format("-o {}: the name must end in .json or .duckdb", path))
      .Remedy("A pickle as torchfrtrace writes it can only be read with PyTorch.");
}

Status WriteFlatDatabase(const std::vector<FlatTable>& tables, const std::string& path) {
  if (path.ends_with(".json"))
    return WriteFileAtomically(path, outputs::flight_text::FlatTablesAsJson(tables));
  return WriteDuckDb(tables, path);
}

}  // namespace debrief
