// Reads SQLite databases that others wrote, as rows of plain tables.
//
//   ASSIGN_OR_RETURN(auto database, SqliteDatabase::Open(source));
//   SqliteScan scan(*database, "KERNEL", kColumns);          // columns by name, missing ones are
//   null while (scan.Next()) Use(scan.Int(0), scan.Text(1));
//
// Such a file may be damaged or made to harm. Views, triggers, virtual tables and computed columns
// are not used, so nothing that the file says is executed; texts have a largest size; a scan gives
// rows in order of their number, each once, which also ends a tree of pages that leads in circles.
// A damaged page costs the rows that lie on it: the scan goes on behind them.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"
#include "base/sqlite/source_file.h"
#include "base/status.h"

namespace debrief {

// Begins like a SQLite database.
bool LooksLikeSqlite(std::string_view head);

// Numbers of rows, both ends included.
struct RowidRange {
  int64_t first = std::numeric_limits<int64_t>::min();
  int64_t last = std::numeric_limits<int64_t>::max();
};

class SqliteDatabase {
 public:
  // `source` must outlive the database. One thread at a time; open another one for each thread.
  static Result<std::unique_ptr<SqliteDatabase>> Open(const Source& source);
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;
  ~SqliteDatabase();

  bool HasTable(std::string_view table) const { return columns_.contains(table); }
  bool HasColumn(std::string_view table, std::string_view column) const;
  // Names of all plain tables, sorted.
  std::vector<std::string_view> Tables() const;

  // Numbers of the first and the last row; first > last of an empty or unreadable table.
  RowidRange RowidsOf(std::string_view table);

  // What kept bytes from being read, if something did.
  const Status& trouble() const { return file_.trouble(); }
  uint64_t bytes() const { return file_.real_size(); }

 private:
  friend class SqliteScan;
  friend class SqliteTexts;
  struct CloseStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, CloseStatement>;

  explicit SqliteDatabase(const Source& source) : file_(source) {}
  Status Connect();
  Status ReadSchema();
  std::vector<std::string> ColumnsOf(const std::string& table);
  Statement Prepare(const std::string& sql);

  // Ends what goes on without giving a row for longer than any scan of the file could.
  struct Patience {
    int64_t left = 0, most = 0;
  };
  static int Check(void* patience);
  void Restart() { patience_.left = patience_.most; }

  SourceFile file_;
  Patience patience_;
  sqlite3* db_ = nullptr;
  std::map<std::string, std::vector<std::string>, std::less<>> columns_;  // of each plain table
};

class SqliteScan {
 public:
  // Behind damage a scan goes on at a number that is a multiple of this. Scans that begin at such
  // numbers find together what one scan of all rows finds.
  static constexpr int64_t kAlignment = 16;

  // `where`: a condition over columns that the table has; empty: all rows.
  SqliteScan(SqliteDatabase& database, std::string_view table,
             std::span<const std::string_view> columns, RowidRange range = {},
             std::string_view where = {});

  bool Next();
  int64_t rowid() const { return last_; }

  // Of the row, by position in `columns`. Views hold until Next().
  bool IsNull(size_t column) const;
  int64_t Int(size_t column, int64_t if_null = kNone64) const;
  std::string_view Text(size_t column) const;

  // What kept some rows from being read; empty when nothing did.
  const std::string& damage() const { return damage_; }

 private:
  bool SkipDamage(int result);

  SqliteDatabase& database_;
  SqliteDatabase::Statement statement_;
  RowidRange range_;
  int64_t last_ = 0;
  bool has_row_ = false;
  int64_t tried_ = 0;     // where the scan was tried to go on, since the last row
  int64_t failures_ = 0;  // how often that failed
  std::string damage_;
};

// Texts of a table by its number, as StringIds has them.
class SqliteTexts {
 public:
  SqliteTexts(SqliteDatabase& database, std::string_view table, std::string_view text_column);

  // Empty when there is none. Holds until the next call.
  std::string_view Find(int64_t rowid);

 private:
  SqliteDatabase& database_;
  SqliteDatabase::Statement statement_;
};

}  // namespace debrief
