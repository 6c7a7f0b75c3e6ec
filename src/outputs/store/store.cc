#include "outputs/store/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/bytes/source.h"
#include "base/version.h"
#include "outputs/output.h"
#include "outputs/run_json.h"
#include "outputs/store/parquet_store.h"
#include "outputs/store/query.h"
#include "outputs/store/table_writer.h"

namespace debrief::outputs::store {

namespace {

// Writing is one stream of rows; only Parquet uses more threads, and little of more than these. A
// thread of DuckDB that waits for another one does so at work.
constexpr int kWriterThreads = 4;
// A store of few rows is mostly the cost of its tables: threads that wait for each other cost more
// than they save, and so does trying out how each column is packed best (its block has 256 KiB
// either way).
constexpr size_t kFewRows = 20'000;

bool HasFewRows(const Model& model) {
  size_t rows = 0;
  for (TableId id = 0; id < AllTables().size(); ++id) {
    const Table* table = model.tables.Find(id);
    if (table != nullptr) rows += table->size();
  }
  return rows < kFewRows;
}

Status SystemError(int error, std::string_view what, const std::string& path) {
  Code code = Code::kIo;
  if (error == ENOENT || error == ENOTDIR) code = Code::kNotFound;
  if (error == EACCES || error == EPERM || error == EROFS) code = Code::kDenied;
  if (error == ENOSPC || error == EDQUOT) code = Code::kNoSpace;
  return Status(code, fmt::format("cannot {} {}: {}", what, path, std::strerror(error)));
}

// A file under its temporary name. What is not committed is removed, with what DuckDB leaves beside
// it.
class PartialFile {
 public:
  explicit PartialFile(std::string final_path)
      : final_path_(std::move(final_path)), path_(final_path_ + ".partial") {}
  PartialFile(const PartialFile&) = delete;
  ~PartialFile() { Remove(); }

  const std::string& path() const { return path_; }

  // Makes sure that the file can be made there: the system's reason is better than DuckDB's.
  Status Prepare() {
    Remove();
    int file = open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (file < 0) return SystemError(errno, "write", path_);
    close(file);
    unlink(path_.c_str());
    return {};
  }

  Status Commit() {
    // Of an older store; DuckDB would try to replay it into ours.
    unlink((final_path_ + ".wal").c_str());
    if (rename(path_.c_str(), final_path_.c_str()) != 0) {
      return SystemError(errno, "write", final_path_);
    }
    return {};
  }

 private:
  void Remove() const {
    unlink(path_.c_str());
    unlink((path_ + ".wal").c_str());
    rmdir((path_ + ".tmp").c_str());
  }

  std::string final_path_;
  std::string path_;
};

Result<Database> OpenForWriting(const Model& model, const std::string& path, int threads) {
  const bool few = HasFewRows(model);
  ASSIGN_OR_RETURN(Database database,
                   Database::Open(path, {OpenMode::kReadWrite,
                                         few ? 1 : std::clamp(threads, 1, kWriterThreads)}));
  if (few) TRY(database.Execute("PRAGMA force_compression = 'uncompressed'"));
  return database;
}

Status WriteMeta(const Model& model, Database& database) {
  return database.Execute(
      fmt::format("CREATE TABLE debrief_meta (key VARCHAR, value VARCHAR);"
                  "INSERT INTO debrief_meta VALUES {}",
                  MetaRows(model)));
}

// One transaction, hence one synchronisation with the disk, however many tables there are.
Status WriteInTransaction(const Model& model, std::string_view prefix, Database& database) {
  TRY(database.Execute("BEGIN"));
  TRY(WriteMeta(model, database));
  TRY(WriteTables(model, prefix, database));
  return database.Execute("COMMIT");
}

Status WriteDatabase(const Model& model, std::string_view prefix, Database& database) {
  Status status = WriteInTransaction(model, prefix, database);
  if (status.ok()) return database.Execute("CHECKPOINT");
  // On a full disk DuckDB fails to roll back as well. As a statement that is one more error; left
  // to the closing of the connection it is an exception in a destructor, which ends the process.
  [[maybe_unused]] Status rolled_back = database.Execute("ROLLBACK");
  return status;
}

// Every table whose name begins with `prefix`.
Status WriteParquet(Database& database, const std::string& folder, std::string_view prefix) {
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    return SystemError(errno, "make the folder", folder);
  }
  for (const TableInfo* table : AllTables()) {
    if (!table->name.starts_with(prefix)) continue;
    PartialFile file(fmt::format("{}/{}.parquet", folder, table->name));
    TRY(file.Prepare());
    TRY(database.Execute(fmt::format("COPY main.{} TO {} (FORMAT parquet, COMPRESSION zstd)",
                                     QuoteName(table->name), QuoteText(file.path()))));
    TRY(file.Commit());
  }
  return {};
}

Status Write(const Model& model, const OutputContext& context) {
  if (context.folder.empty()) return {};
  PartialFile file(fmt::format("{}/{}", context.folder, kStoreFile));
  TRY(file.Prepare());
  ASSIGN_OR_RETURN(Database database, OpenForWriting(model, file.path(), context.threads));
  TRY(WriteDatabase(model, "", database));
  if (context.parquet) TRY(WriteParquet(database, context.folder + "/parquet", ""));
  database.Close();
  return file.Commit();
}

Status CheckSchema(Database& database, const std::string& path) {
  auto schema = ReadCells(database, "SELECT value FROM debrief_meta WHERE key = 'schema'");
  if (!schema.ok()) {
    return Status(Code::kInvalid, "this is a DuckDB file, but not a store of debrief").At({path});
  }
  const bool is_ours = schema->size() == 1 && schema->front()[0] == std::to_string(kStoreSchema);
  if (is_ours) return {};
  return Status(Code::kUnsupported, "the store was made by another version of debrief")
      .At({path})
      .Remedy("Run debrief on the inputs again.");
}

// The id that findings.json in `folder` has; none without such a file.
std::optional<std::string> RunOfFindings(const std::string& folder) {
  auto source = OpenFileSource(folder + "/findings.json");
  if (!source.ok()) return std::nullopt;
  auto text = source.value()->View(0, source.value()->size());
  return text.ok() ? std::optional(RunId(text.value().text())) : std::nullopt;
}

// The id that index.html carries, near its beginning (html.cc); none without one.
std::optional<std::string> RunOfPage(const std::string& folder) {
  constexpr size_t kFirst = 4 << 20;
  constexpr std::string_view kMark = "{\"run\":\"";
  auto source = OpenFileSource(folder + "/index.html");
  if (!source.ok()) return std::nullopt;
  auto bytes = source.value()->View(0, kFirst);
  if (!bytes.ok()) return std::nullopt;
  const std::string_view text = bytes.value().text();
  const size_t at = text.find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + kMark.size());
  return std::string(rest.substr(0, rest.find('"')));
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      {"store", "all tables of the run, for SQL (debrief query) and for other programs",
       kStoreFile},
      Write};
  return kOutput;
}

Status WriteParquetTables(const Model& model, const std::string& folder, std::string_view prefix) {
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return SystemError(errno, "make the folder", folder);
  PartialFile file(fmt::format("{}/.tables.duckdb", folder));
  TRY(file.Prepare());
  ASSIGN_OR_RETURN(Database database, OpenForWriting(model, file.path(), kWriterThreads));
  TRY(WriteDatabase(model, prefix, database));
  return WriteParquet(database, folder, prefix);
}

std::string MetaRows(const Model& model) {
  return fmt::format("('schema', '{}'), ('version', {}), ('run', {})", kStoreSchema,
                     QuoteText(kVersion), QuoteText(RunId(model)));
}

Status CheckRun(const std::string& path, Database& database) {
  auto cells = ReadCells(database, "SELECT value FROM debrief_meta WHERE key = 'run'");
  if (!cells.ok() || cells->size() != 1) return {};  // no store of ours, or an older one
  const std::string& run = cells->front()[0];
  const std::string folder = std::filesystem::path(StorePath(path)).parent_path().string();
  const std::string here = folder.empty() ? "." : folder;
  const std::pair<const char*, std::optional<std::string>> parts[] = {
      {"findings.json", RunOfFindings(here)}, {"index.html", RunOfPage(here)}};
  for (const auto& [name, other] : parts) {
    if (!other || *other == run) continue;
    return Status(Code::kChanged, fmt::format("{} is of another run than {}", kStoreFile, name))
        .At({.file = here})
        .Remedy("Run debrief on the inputs again, with --overwrite and without --no-store.");
  }
  return {};
}

std::string StorePath(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? fmt::format("{}/{}", path, kStoreFile) : path;
}

Result<Database> OpenStore(const std::string& path, OpenOptions options) {
  if (HasParquetAlone(path)) {
    ASSIGN_OR_RETURN(Database tables, OpenParquetStore(path, options));
    TRY(CheckSchema(tables, path));
    return tables;
  }
  const std::string file = StorePath(path);
  if (access(file.c_str(), F_OK) != 0) {
    return Status(Code::kNotFound, fmt::format("there is no store {}", file))
        .Remedy("Name a folder that debrief wrote (without --no-store).");
  }
  options.mode = OpenMode::kReadOnly;
  ASSIGN_OR_RETURN(Database database, Database::Open(file, options));
  TRY(CheckSchema(database, file));
  return database;
}

}  // namespace debrief::outputs::store
