#include "outputs/store/parquet_store.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "model/table.h"
#include "outputs/store/store.h"
#include "outputs/store/table_writer.h"

namespace debrief::outputs::store {

namespace {

constexpr std::string_view kParquetFolder = "parquet";
constexpr std::string_view kMetaTable = "debrief_meta";

std::string FolderOf(const std::string& report) {
  return fmt::format("{}/{}", report, kParquetFolder);
}

std::string FileOf(const std::string& folder, std::string_view table) {
  return fmt::format("{}/{}.parquet", folder, table);
}

Status WriteMetaFile(const Model& model, const std::string& folder, Database& database) {
  return database.Execute(
      fmt::format("COPY (SELECT * FROM (VALUES {}) AS meta(key, value)) TO {}"
                  " (FORMAT parquet)",
                  MetaRows(model), QuoteText(FileOf(folder, kMetaTable))));
}

// The folder of a report appears as a whole, so these files need no name of their own until then.
Status WriteFolder(const Model& model, const OutputContext& context) {
  if (context.folder.empty()) return {};
  const std::string folder = FolderOf(context.folder);
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return Status(Code::kIo, fmt::format("cannot make {}: {}", folder, std::strerror(errno)));
  ASSIGN_OR_RETURN(Database database,
                   Database::Open("", {OpenMode::kMemory, std::clamp(context.threads, 1, 4)}));
  TRY(WriteParquetFiles(model, folder, database));
  return WriteMetaFile(model, folder, database);
}

// As `stored` of run.duckdb: rows have numbers, lists and stacks are text.
std::string StoredColumn(const ColumnInfo& column) {
  std::string name = QuoteName(column.name);
  if (column.type == ColumnType::kList) return fmt::format("CAST({0} AS VARCHAR) AS {0}", name);
  if (column.type == ColumnType::kStack)
    return fmt::format("array_to_string({0}, chr(10)) AS {0}", name);
  return name;
}

std::string ViewsOf(const TableInfo& table, const std::string& folder) {
  const std::string file = FileOf(folder, table.name);
  if (access(file.c_str(), F_OK) != 0) return ViewOfNothing(table);
  std::string columns = "file_row_number AS rowid";
  for (const ColumnInfo& column : table.columns) columns += ", " + StoredColumn(column);
  return fmt::format(
      "CREATE VIEW main.{0} AS FROM read_parquet({1});"
      "CREATE VIEW stored.{0} AS SELECT {2} FROM read_parquet({1}, file_row_number = true);\n",
      QuoteName(table.name), QuoteText(file), columns);
}

// Readers other than the owner of the files may read these and no others.
Status Restrict(const OpenOptions& options, const std::string& folder, Database& database) {
  if (options.locked) TRY(database.Execute("SET temp_directory = ''"));
  if (!options.external_access)
    TRY(database.Execute(fmt::format(
        "SET allowed_directories = [{}]; SET enable_external_access = false", QuoteText(folder))));
  return options.locked ? database.Execute("SET lock_configuration = true") : Status();
}

}  // namespace

const Output& ParquetStore() {
  static constexpr Output kOutput = {
      {"parquet", "all tables of the run as Parquet, a file each (--store parquet)", "parquet/"},
      WriteFolder};
  return kOutput;
}

bool HasParquetAlone(const std::string& path) {
  return access(StorePath(path).c_str(), F_OK) != 0 &&
         access(FileOf(FolderOf(path), kMetaTable).c_str(), F_OK) == 0;
}

Result<Database> OpenParquetStore(const std::string& folder, OpenOptions options) {
  std::error_code error;
  const std::string files = std::filesystem::absolute(FolderOf(folder), error).string();
  OpenOptions open = options;
  open.mode = OpenMode::kMemory;
  open.external_access = true;
  open.locked = false;
  ASSIGN_OR_RETURN(Database database, Database::Open("", open));
  std::string views =
      fmt::format("CREATE SCHEMA stored; CREATE TABLE {} AS FROM read_parquet({});\n", kMetaTable,
                  QuoteText(FileOf(files, kMetaTable)));
  for (const TableInfo* table : AllTables()) views += ViewsOf(*table, files);
  TRY(database.Execute(views));
  TRY(Restrict(options, files, database));
  return database;
}

}  // namespace debrief::outputs::store
