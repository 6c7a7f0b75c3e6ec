#include "base/sqlite/schema.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/sqlite/source_file.h"

namespace debrief {

namespace {

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);

constexpr int kMostSchemaBytes = 64 << 20;  // of one of its texts
constexpr int kMostSqlBytes = 1 << 20;
constexpr int kMostColumns = 500;
constexpr size_t kMostTables = 4096;
constexpr size_t kHeadBytes = 100;
// Instructions of SQLite's machine. A row takes eight bytes at least, and a few dozen of them.
constexpr int kStepsBetweenChecks = 1'000'000;
constexpr int64_t kFewestChecks = 16, kStepsOfByte = 8;

std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

// Only plain reading: whatever the text of a schema hides, nothing else is prepared.
int Authorize(void*, int action, const char*, const char*, const char*, const char*) {
  const bool reads = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_PRAGMA ||
                     action == SQLITE_FUNCTION;
  return reads ? SQLITE_OK : SQLITE_DENY;
}

// Ends what goes on for longer than reading the whole file could.
int CheckPatience(void* left) { return --*static_cast<int64_t*>(left) < 0 ? 1 : 0; }

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, CloseStatement>;

std::string TextAt(const Statement& row, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row.get(), column));
  return text == nullptr ? std::string() : std::string(text);
}

class SchemaReader {
 public:
  explicit SchemaReader(const Source& source) : source_(source), file_(source) {}

  Result<SqliteSchema> Read() {
    TRY(Connect());
    SqliteSchema schema;
    TRY(ReadFormat(schema.format));
    TRY(ListTables(schema));
    for (auto& [name, table] : schema.tables) ReadColumns(name, table);
    std::erase_if(schema.tables, [](const auto& table) { return table.second.columns.empty(); });
    return schema;
  }

 private:
  Status Connect() {
    constexpr int kFlags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    sqlite3* opened = nullptr;
    const int result = sqlite3_open_v2("database", &opened, kFlags, file_.vfs_name());
    db_.reset(opened);
    if (result != SQLITE_OK) return Status(Code::kInvalid, sqlite3_errstr(result));
    constexpr std::pair<int, int> kSettings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                                 {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                                 {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                                 {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                                 {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                                 {SQLITE_DBCONFIG_ENABLE_FKEY, 0}};
    for (const auto& [setting, value] : kSettings)
      sqlite3_db_config(opened, setting, value, nullptr);
    constexpr std::pair<int, int> kLimits[] = {{SQLITE_LIMIT_LENGTH, kMostSchemaBytes},
                                               {SQLITE_LIMIT_SQL_LENGTH, kMostSqlBytes},
                                               {SQLITE_LIMIT_COLUMN, kMostColumns},
                                               {SQLITE_LIMIT_EXPR_DEPTH, 50},
                                               {SQLITE_LIMIT_ATTACHED, 0},
                                               {SQLITE_LIMIT_WORKER_THREADS, 0}};
    for (const auto& [limit, value] : kLimits) sqlite3_limit(opened, limit, value);
    patience_ =
        kFewestChecks + static_cast<int64_t>(source_.size()) / kStepsBetweenChecks * kStepsOfByte;
    sqlite3_progress_handler(opened, kStepsBetweenChecks, CheckPatience, &patience_);
    sqlite3_set_authorizer(opened, Authorize, nullptr);
    return {};
  }

  // From the header, which SQLite has found to be good when it opened the file.
  Status ReadFormat(SqliteFormat& format) const {
    ASSIGN_OR_RETURN(const ByteView head, source_.View(0, kHeadBytes));
    if (head.size() < kHeadBytes) return Status(Code::kInvalid, "its header is cut");
    auto byte = [&](size_t at) {
      return static_cast<uint32_t>(static_cast<uint8_t>(head.text()[at]));
    };
    format.page_bytes = byte(16) << 8 | byte(17);
    if (format.page_bytes == 1) format.page_bytes = 65536;
    constexpr uint32_t kFewestUsable = 480;
    const bool is_power = (format.page_bytes & (format.page_bytes - 1)) == 0;
    if (!is_power || format.page_bytes < kFewestUsable + byte(20))
      return Status(Code::kInvalid, "its header has no size of pages");
    format.usable_bytes = format.page_bytes - byte(20);
    format.pages = (source_.size() + format.page_bytes - 1) / format.page_bytes;
    const uint32_t encoding = byte(59);
    format.encoding = encoding == 2   ? SqliteEncoding::kUtf16Little
                      : encoding == 3 ? SqliteEncoding::kUtf16Big
                                      : SqliteEncoding::kUtf8;
    return {};
  }

  Status ListTables(SqliteSchema& schema) {
    // Views and virtual tables have no page of their own.
    const Statement list =
        Prepare("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table' AND rootpage > 1");
    if (list == nullptr) {
      if (!file_.trouble().ok()) return file_.trouble();
      return Status(Code::kInvalid,
                    fmt::format("its schema cannot be read: {}", sqlite3_errmsg(db_.get())));
    }
    while (schema.tables.size() < kMostTables && sqlite3_step(list.get()) == SQLITE_ROW) {
      SqliteTableSchema table;
      table.root = static_cast<uint32_t>(sqlite3_column_int64(list.get(), 1));
      schema.tables.emplace(TextAt(list, 0), std::move(table));
    }
    return {};
  }

  void ReadColumns(const std::string& name, SqliteTableSchema& table) {
    enum : int { kName = 1, kType = 2, kKey = 5, kHidden = 6 };
    constexpr int kPlain = 0, kVirtual = 2;
    const Statement info = Prepare("PRAGMA table_xinfo(" + Quoted(name) + ")");
    size_t place = 0, keys = 0;
    while (info != nullptr && sqlite3_step(info.get()) == SQLITE_ROW) {
      const int hidden = sqlite3_column_int(info.get(), kHidden);
      if (hidden == kVirtual) continue;  // not in the row
      const std::string column = TextAt(info, kName);
      if (hidden == kPlain && !column.empty()) table.columns.emplace(column, place);
      ++place;
      if (sqlite3_column_int(info.get(), kKey) == 0) continue;
      ++keys;
      if (sqlite3_stricmp(TextAt(info, kType).c_str(), "INTEGER") == 0)
        table.number_column = column;
    }
    if (keys != 1) table.number_column.clear();
  }

  Statement Prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
    return Statement(statement);
  }

  const Source& source_;
  SourceFile file_;  // outlives the database that reads it
  int64_t patience_ = 0;
  std::unique_ptr<sqlite3, CloseDatabase> db_;
};

}  // namespace

bool LooksLikeSqlite(std::string_view head) { return head.starts_with(kSqliteMagic); }

Result<SqliteSchema> ReadSqliteSchema(const Source& source) { return SchemaReader(source).Read(); }

}  // namespace debrief
