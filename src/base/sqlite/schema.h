// What tables a SQLite database has, where each begins and where its columns lie in a row.
//
// SQLite itself reads the schema: it is text, in its own language. It sees the bytes through
// source_file.h alone; views, triggers and virtual tables are left out, and nothing that the file
// says is executed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/bytes/source.h"
#include "base/status.h"

namespace debrief {

// Begins like a SQLite database.
bool LooksLikeSqlite(std::string_view head);

enum class SqliteEncoding : uint8_t { kUtf8, kUtf16Little, kUtf16Big };

struct SqliteFormat {
  uint32_t page_bytes = 0;
  uint32_t usable_bytes = 0;  // of a page: some have a reserve at their end
  uint64_t pages = 0;         // that are there, whatever the header says
  SqliteEncoding encoding = SqliteEncoding::kUtf8;
};

struct SqliteTableSchema {
  uint32_t root = 0;  // the page in which its tree begins
  // Places in a row, by name. Computed columns are left out.
  std::map<std::string, size_t, std::less<>> columns;
  std::string number_column;  // the one that is the row's number, and null in the row itself
};

struct SqliteSchema {
  SqliteFormat format;
  std::map<std::string, SqliteTableSchema, std::less<>> tables;
};

Result<SqliteSchema> ReadSqliteSchema(const Source& source);

}  // namespace debrief
