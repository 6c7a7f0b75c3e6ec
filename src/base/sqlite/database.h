// Reads SQLite databases that others wrote, as rows of plain tables.
//
//   ASSIGN_OR_RETURN(auto database, SqliteDatabase::Open(source));
//   SqliteScan scan(*database, "KERNEL", kColumns);   // columns by name, missing ones are null
//   while (scan.Next()) Use(scan.Int(0), scan.Text(1));
//
// Such a file may be damaged or made to harm. SQLite reads the schema alone (schema.h); rows are
// read here, page by page (table_pages.h), several times as fast as through its machine. Views,
// triggers, virtual tables, indexes and computed columns are not used, so nothing that the file
// says is executed; rows have a largest size. A damaged page costs the rows that lie on it. What a
// leaf gives does not depend on the other leaves, so that scans of some leaves each find together
// what one scan of all finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"
#include "base/sqlite/row_values.h"
#include "base/sqlite/schema.h"
#include "base/sqlite/table_pages.h"
#include "base/status.h"

namespace debrief {

// As SQLite says it.
inline constexpr std::string_view kDamagedDatabase = "database disk image is malformed";

class SqliteDatabase {
 public:
  // `source` must outlive the database. One thread at a time; another thread takes another one:
  static Result<std::unique_ptr<SqliteDatabase>> Open(const Source& source);
  // The same database once more, without reading its schema again.
  SqliteDatabase(const Source& source, const SqliteDatabase& other)
      : SqliteDatabase(source, other.schema_) {}
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  bool HasTable(std::string_view table) const { return schema_->tables.contains(table); }
  bool HasColumn(std::string_view table, std::string_view column) const;
  // Names of all plain tables, sorted.
  std::vector<std::string_view> Tables() const;

  // None of a table that is not there.
  TableLeaves LeavesOf(std::string_view table);
  uint32_t page_bytes() const { return schema_->format.page_bytes; }
  // About how many rows these leaves have.
  size_t CountRows(std::span<const uint32_t> leaves);

  // What kept bytes from being read, if something did.
  const Status& trouble() const { return pages_.trouble(); }

 private:
  friend class SqliteScan;
  friend class SqliteTexts;

  SqliteDatabase(const Source& source, std::shared_ptr<const SqliteSchema> schema)
      : schema_(std::move(schema)), pages_(source, schema_->format) {}

  // Null when there is none.
  const SqliteTableSchema* Find(std::string_view table) const;

  std::shared_ptr<const SqliteSchema> schema_;
  TablePages pages_;
};

class SqliteScan {
 public:
  // All rows of the table.
  SqliteScan(SqliteDatabase& database, std::string_view table,
             std::span<const std::string_view> columns);
  // Those on some of its leaves.
  SqliteScan(SqliteDatabase& database, std::string_view table,
             std::span<const std::string_view> columns, std::span<const uint32_t> leaves);

  bool Next();
  int64_t rowid() const { return cell_.number; }

  // Of the row, by position in `columns`. Views hold until Next().
  bool IsNull(size_t column) const { return column != number_column_ && values_.IsNull(column); }
  int64_t Int(size_t column, int64_t if_null = kNone64) const;
  std::string_view Text(size_t column) const { return values_.Text(column); }

  // What kept some rows from being read; empty when nothing did.
  std::string_view damage() const {
    return leaves_.is_damaged ? kDamagedDatabase : std::string_view();
  }

 private:
  bool ReadRow(size_t cell);

  SqliteDatabase& database_;
  TableLeaves leaves_;
  size_t next_leaf_ = 0;
  TablePage page_;
  size_t next_cell_ = 0;
  TableCell cell_;
  std::string long_row_;  // that goes on behind its page
  RowValues values_;
  size_t number_column_;  // the column that is the row's number
};

// Texts of a table by its number, as StringIds has them.
class SqliteTexts {
 public:
  SqliteTexts(SqliteDatabase& database, std::string_view table, std::string_view text_column);

  // Empty when there is none. Holds until the next call.
  std::string_view Find(int64_t rowid);

 private:
  // Whether the leaf that may have the row is loaded.
  bool FindLeaf(int64_t rowid);

  SqliteDatabase& database_;
  uint32_t root_ = 0;
  TablePage page_;
  std::string long_row_;
  RowValues values_;
};

}  // namespace debrief
