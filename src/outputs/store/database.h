// One DuckDB database and one connection to it, closed with the object.
//
// No setting here lets DuckDB reach the network: extensions are neither installed nor loaded by
// themselves, and what we need (Parquet, JSON) is inside the library.
//
// A store may come from somebody else. Opened read-only it cannot change, and its views can do no
// more than SELECT: the worst that a forged one does is to show its reader a file of the reader's
// own. So external_access stays on by default, since people want to join a store with their own
// Parquet and CSV files; whoever shows results to others (a server) turns it off.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "outputs/store/duckdb_api.h"

namespace debrief::outputs::store {

enum class OpenMode : uint8_t { kReadOnly, kReadWrite, kMemory };

struct OpenOptions {
  OpenMode mode = OpenMode::kReadOnly;
  int threads = 0;              // 0: as many as there are cores
  bool external_access = true;  // whether SQL may name other files
  // For SQL of others: settings stay as they are here, and what does not fit into memory_mb fails
  // instead of going to a folder beside the database.
  bool locked = false;
  uint64_t memory_mb = 0;  // 0: as DuckDB likes
};

class Database {
 public:
  // kNotFound when there is no such file, kInvalid when it is not DuckDB's. `path` is not looked at
  // for kMemory.
  static Result<Database> Open(const std::string& path, const OpenOptions& options);

  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database() { Close(); }

  // Runs one or several statements and drops their results. DuckDB's own message becomes the
  // Status.
  Status Execute(const std::string& sql);

  // Any thread.
  Result<Connection> Connect();

  // Closes early. A database opened for writing is written out here.
  void Close();

  const DuckDbApi& api() const { return *api_; }
  duckdb_connection connection() const { return connection_; }

 private:
  explicit Database(const DuckDbApi* api) : api_(api) {}

  const DuckDbApi* api_;
  duckdb_database database_ = nullptr;
  duckdb_connection connection_ = nullptr;
};

// What went wrong in `result`. `otherwise` is the code where the kind of error does not tell.
Status ResultError(const DuckDbApi& api, duckdb_result& result, Code otherwise);

// A message of DuckDB as a Status: a full disk and a missing permission are told by their text
// alone.
Status DuckDbError(std::string_view message, Code otherwise);

// 'it''s' and "a ""b""".
std::string QuoteText(std::string_view text);
std::string QuoteName(std::string_view name);

}  // namespace debrief::outputs::store
