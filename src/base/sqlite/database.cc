#include "base/sqlite/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace debrief {

namespace {

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);

// The largest text or row that is read; a page of output that a process printed fits.
constexpr int kMostBytes = 64 << 20;
constexpr int kMostSqlBytes = 1 << 20;
constexpr int kMostColumns = 500;
// Instructions of SQLite's machine. A row takes eight bytes at least, and a scan that looks for
// some rows alone a few dozen instructions for each.
constexpr int kStepsBetweenChecks = 1'000'000;
constexpr int64_t kFewestChecks = 16, kStepsOfByte = 8;
constexpr size_t kMostTables = 4096;

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

}  // namespace

bool LooksLikeSqlite(std::string_view head) { return head.starts_with(kSqliteMagic); }

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::Open(const Source& source) {
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(source));
  TRY(database->Connect());
  TRY(database->ReadSchema());
  return database;
}

SqliteDatabase::~SqliteDatabase() { sqlite3_close_v2(db_); }

Status SqliteDatabase::Connect() {
  constexpr int kFlags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  const int result = sqlite3_open_v2("database", &db_, kFlags, file_.vfs_name());
  if (result != SQLITE_OK) return Status(Code::kInvalid, sqlite3_errstr(result));
  constexpr std::pair<int, int> kSettings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                               {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                               {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                               {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                               {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                               {SQLITE_DBCONFIG_ENABLE_FKEY, 0}};
  for (const auto& [setting, value] : kSettings) sqlite3_db_config(db_, setting, value, nullptr);
  constexpr std::pair<int, int> kLimits[] = {
      {SQLITE_LIMIT_LENGTH, kMostBytes},   {SQLITE_LIMIT_SQL_LENGTH, kMostSqlBytes},
      {SQLITE_LIMIT_COLUMN, kMostColumns}, {SQLITE_LIMIT_EXPR_DEPTH, 50},
      {SQLITE_LIMIT_ATTACHED, 0},          {SQLITE_LIMIT_WORKER_THREADS, 0}};
  for (const auto& [limit, value] : kLimits) sqlite3_limit(db_, limit, value);
  const auto bytes = static_cast<int64_t>(file_.real_size());
  patience_.most = kFewestChecks + bytes / kStepsBetweenChecks * kStepsOfByte;
  Restart();
  sqlite3_progress_handler(db_, kStepsBetweenChecks, Check, &patience_);
  sqlite3_set_authorizer(db_, Authorize, nullptr);
  return {};
}

int SqliteDatabase::Check(void* patience) {
  return --static_cast<Patience*>(patience)->left < 0 ? 1 : 0;
}

Status SqliteDatabase::ReadSchema() {
  // Views and virtual tables have no page of their own.
  Statement list = Prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 1");
  if (list == nullptr) {
    if (!file_.trouble().ok()) return file_.trouble();
    return Status(Code::kInvalid,
                  fmt::format("its schema cannot be read: {}", sqlite3_errmsg(db_)));
  }
  std::vector<std::string> names;
  while (names.size() < kMostTables && sqlite3_step(list.get()) == SQLITE_ROW) {
    const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(list.get(), 0));
    if (name != nullptr) names.emplace_back(name);
  }
  list.reset();
  for (const std::string& name : names) {
    std::vector<std::string> columns = ColumnsOf(name);
    if (!columns.empty()) columns_.emplace(name, std::move(columns));
  }
  return {};
}

// Computed columns are not listed.
std::vector<std::string> SqliteDatabase::ColumnsOf(const std::string& table) {
  std::vector<std::string> columns;
  Statement info = Prepare("PRAGMA table_info(" + Quoted(table) + ")");
  while (info != nullptr && sqlite3_step(info.get()) == SQLITE_ROW) {
    const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(info.get(), 1));
    if (name != nullptr) columns.emplace_back(name);
  }
  return columns;
}

SqliteDatabase::Statement SqliteDatabase::Prepare(const std::string& sql) {
  Restart();
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  return Statement(statement);
}

bool SqliteDatabase::HasColumn(std::string_view table, std::string_view column) const {
  auto found = columns_.find(table);
  return found != columns_.end() &&
         std::find(found->second.begin(), found->second.end(), column) != found->second.end();
}

std::vector<std::string_view> SqliteDatabase::Tables() const {
  std::vector<std::string_view> names;
  for (const auto& [name, columns] : columns_) names.push_back(name);
  return names;
}

RowidRange SqliteDatabase::RowidsOf(std::string_view table) {
  RowidRange range{1, 0};
  if (!HasTable(table)) return range;
  auto end_of = [&](std::string_view order, int64_t& number) {
    Statement one = Prepare(
        fmt::format("SELECT rowid FROM {} ORDER BY rowid {} LIMIT 1", Quoted(table), order));
    const int result = one == nullptr ? SQLITE_ERROR : sqlite3_step(one.get());
    if (result == SQLITE_ROW) number = sqlite3_column_int64(one.get(), 0);
    return result;
  };
  int64_t first = 1, last = 0;
  const int begins = end_of("ASC", first), ends = end_of("DESC", last);
  if (begins == SQLITE_DONE || ends == SQLITE_DONE) return range;
  // Where the first or the last page is damaged, the others are not lost: rows are counted from 1,
  // and a file has fewer rows than bytes.
  range.first = begins == SQLITE_ROW ? first : 1;
  range.last = ends == SQLITE_ROW ? last : static_cast<int64_t>(file_.shown_size() / 8);
  return range;
}

SqliteScan::SqliteScan(SqliteDatabase& database, std::string_view table,
                       std::span<const std::string_view> columns, RowidRange range,
                       std::string_view where)
    : database_(database), range_(range) {
  if (!database.HasTable(table)) return;
  std::string sql = "SELECT rowid";
  for (std::string_view column : columns)
    sql += ", " + (database.HasColumn(table, column) ? Quoted(column) : std::string("NULL"));
  // Indexes of the file may be damaged, and are of no use for a scan.
  sql += fmt::format(" FROM {} NOT INDEXED WHERE rowid >= ?1 AND rowid <= ?2", Quoted(table));
  if (!where.empty()) sql += fmt::format(" AND ({})", where);
  sql += " ORDER BY rowid";
  statement_ = database.Prepare(sql);
  if (statement_ == nullptr) return;
  sqlite3_bind_int64(statement_.get(), 1, range_.first);
  sqlite3_bind_int64(statement_.get(), 2, range_.last);
}

bool SqliteScan::Next() {
  while (statement_ != nullptr) {
    int result = sqlite3_step(statement_.get());
    if (result == SQLITE_ROW) {
      const int64_t rowid = sqlite3_column_int64(statement_.get(), 0);
      if (!has_row_ || rowid > last_) {
        last_ = rowid;
        has_row_ = true;
        failures_ = 0;
        database_.Restart();
        return true;
      }
      result = SQLITE_CORRUPT;  // pages that lead in circles
    }
    if (result == SQLITE_DONE || !SkipDamage(result)) statement_.reset();
  }
  return false;
}

// Goes on behind the damage. False at the end.
bool SqliteScan::SkipDamage(int result) {
  constexpr int64_t kManyFailures = 1024;  // a thousand pages of rows; then over twice as many each
  if (damage_.empty()) damage_ = sqlite3_errstr(result);
  const bool is_damage = result == SQLITE_CORRUPT || result == SQLITE_TOOBIG ||
                         result == SQLITE_IOERR_SHORT_READ || result == SQLITE_NOTADB;
  sqlite3_reset(statement_.get());
  if (failures_++ == 0) tried_ = has_row_ ? last_ : range_.first;
  const int64_t doublings = std::clamp<int64_t>(failures_ - kManyFailures, 0, 50);
  const bool is_end =
      __builtin_add_overflow(tried_ & ~(kAlignment - 1), kAlignment << doublings, &tried_);
  if (!is_damage || is_end || tried_ > range_.last) return false;
  sqlite3_bind_int64(statement_.get(), 1, tried_);
  return true;
}

bool SqliteScan::IsNull(size_t column) const {
  return sqlite3_column_type(statement_.get(), static_cast<int>(column) + 1) == SQLITE_NULL;
}

int64_t SqliteScan::Int(size_t column, int64_t if_null) const {
  const int at = static_cast<int>(column) + 1;
  const int64_t number = sqlite3_column_int64(statement_.get(), at);
  if (number != 0 || sqlite3_column_type(statement_.get(), at) != SQLITE_NULL) return number;
  return if_null;
}

std::string_view SqliteScan::Text(size_t column) const {
  const int at = static_cast<int>(column) + 1;
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), at));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), at))};
}

SqliteTexts::SqliteTexts(SqliteDatabase& database, std::string_view table,
                         std::string_view text_column)
    : database_(database) {
  if (!database.HasColumn(table, text_column)) return;
  statement_ = database.Prepare(
      fmt::format("SELECT {} FROM {} WHERE rowid = ?1", Quoted(text_column), Quoted(table)));
}

std::string_view SqliteTexts::Find(int64_t rowid) {
  if (statement_ == nullptr) return {};
  sqlite3_reset(statement_.get());
  database_.Restart();
  sqlite3_bind_int64(statement_.get(), 1, rowid);
  if (sqlite3_step(statement_.get()) != SQLITE_ROW) return {};
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), 0));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), 0))};
}

}  // namespace debrief
