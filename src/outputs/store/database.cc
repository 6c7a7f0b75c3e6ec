#include "outputs/store/database.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace debrief::outputs::store {

namespace {

// False when DuckDB does not know one of them.
bool Apply(const OpenOptions& options, Config& config) {
  bool is_known = true;
  auto set = [&](const char* name, const std::string& value) {
    is_known &= config.api.set_config(config.handle, name, value.c_str()) == DuckDBSuccess;
  };
  set("autoinstall_known_extensions", "false");
  set("autoload_known_extensions", "false");
  set("allow_community_extensions", "false");
  if (options.mode == OpenMode::kReadOnly) set("access_mode", "READ_ONLY");
  if (options.threads > 0) set("threads", std::to_string(options.threads));
  if (options.memory_mb > 0) set("memory_limit", fmt::format("{}MB", options.memory_mb));
  // In this order: each forbids to set what stands above it.
  if (options.locked) set("temp_directory", "");
  if (!options.external_access) set("enable_external_access", "false");
  if (options.locked) set("lock_configuration", "true");
  return is_known;
}

// `quote` doubled inside and put around.
std::string Quote(std::string_view text, char quote) {
  std::string out(1, quote);
  for (char c : text) {
    if (c == quote) out += quote;
    out += c;
  }
  out += quote;
  return out;
}

}  // namespace

std::string QuoteText(std::string_view text) { return Quote(text, '\''); }
std::string QuoteName(std::string_view name) { return Quote(name, '"'); }

Result<Database> Database::Open(const std::string& path, const OpenOptions& options) {
  ASSIGN_OR_RETURN(const DuckDbApi* api, LoadDuckDb());
  if (options.mode == OpenMode::kReadOnly && access(path.c_str(), F_OK) != 0) {
    return Status(Code::kNotFound, fmt::format("there is no file {}", path));
  }
  Config config(*api);
  api->create_config(&config.handle);
  if (!Apply(options, config))
    return Status(Code::kUnsupported, "DuckDB does not know one of our settings");
  Database opened(api);
  const char* file = options.mode == OpenMode::kMemory ? nullptr : path.c_str();
  char* message = nullptr;
  if (api->open_ext(file, &opened.database_, config.handle, &message) != DuckDBSuccess) {
    Status status =
        DuckDbError(message == nullptr ? "cannot open the database" : message, Code::kInvalid);
    api->free(message);
    return std::move(status).At({path});
  }
  if (api->connect(opened.database_, &opened.connection_) != DuckDBSuccess) {
    return Status(Code::kIo, "cannot connect to the database").At({path});
  }
  return opened;
}

Database::Database(Database&& other) noexcept
    : api_(other.api_),
      database_(std::exchange(other.database_, nullptr)),
      connection_(std::exchange(other.connection_, nullptr)) {}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(database_, other.database_);
  std::swap(connection_, other.connection_);
  return *this;
}

void Database::Close() {
  if (connection_ != nullptr) api_->disconnect(&connection_);
  if (database_ != nullptr) api_->close(&database_);
}

Status Database::Execute(const std::string& sql) {
  Rows rows(*api_);
  if (api_->query(connection_, sql.c_str(), &rows.handle) == DuckDBSuccess) return {};
  return ResultError(*api_, rows.handle, Code::kIo);
}

Result<Connection> Database::Connect() {
  duckdb_connection handle = nullptr;
  if (api_->connect(database_, &handle) != DuckDBSuccess)
    return Status(Code::kIo, "cannot connect to the database");
  return Connection(*api_, handle);
}

Status ResultError(const DuckDbApi& api, duckdb_result& result, Code otherwise) {
  const char* message = api.result_error(&result);
  switch (api.result_error_type(&result)) {
    case DUCKDB_ERROR_IO:
      otherwise = Code::kIo;
      break;
    case DUCKDB_ERROR_OUT_OF_MEMORY:
      otherwise = Code::kLimit;
      break;
    default:
      break;
  }
  return DuckDbError(message == nullptr ? ThrownText() : message, otherwise);
}

Status DuckDbError(std::string_view message, Code otherwise) {
  if (message.empty()) message = "unknown error";
  // Text of a wrong query is quoted in the message and proves nothing about the disk.
  if (otherwise == Code::kUsage) return Status(otherwise, fmt::format("DuckDB: {}", message));
  auto says = [&](std::string_view words) { return message.find(words) != std::string_view::npos; };
  if (says("No space left on device") || says("Disk quota exceeded")) otherwise = Code::kNoSpace;
  if (says("Permission denied") || says("Read-only file system")) otherwise = Code::kDenied;
  return Status(otherwise, fmt::format("DuckDB: {}", message));
}

}  // namespace debrief::outputs::store
