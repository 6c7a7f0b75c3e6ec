// Databases made here, whole, damaged and made to harm; read through base/sqlite.
#include "base/sqlite/database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace debrief {
namespace database_test {

constexpr std::array<std::string_view, 3> kColumns = {"number", "missing", "word"};

// The bytes of a database on which `sql` was run.
std::string Make(const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &db), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(db, "main", &size, 0);
  std::string made(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(db);
  return made;
}

std::string Counting(int rows) {
  return Make(
      "PRAGMA page_size = 512; CREATE TABLE t (number INTEGER, word TEXT); WITH RECURSIVE n(i) AS "
      "(SELECT 1 "
      "UNION ALL SELECT i + 1 FROM n WHERE i < " +
      std::to_string(rows) + ") INSERT INTO t SELECT i, 'word ' || i FROM n;");
}

struct Found {
  std::vector<int64_t> numbers;
  std::string damage;
};

Found Scan(const std::string& bytes) {
  const auto source = MakeMemorySource(bytes);
  auto database = SqliteDatabase::Open(*source);
  Found found;
  if (!database.ok()) return found;
  SqliteScan scan(*database.value(), "t", kColumns);
  while (scan.Next()) found.numbers.push_back(scan.Int(0));
  found.damage = scan.damage();
  return found;
}

// By scans of so many leaves each, in databases of their own.
std::vector<int64_t> ScanInParts(const std::string& bytes, size_t leaves_of_part) {
  const auto source = MakeMemorySource(bytes);
  auto database = SqliteDatabase::Open(*source);
  std::vector<int64_t> numbers;
  if (!database.ok()) return numbers;
  const std::vector<uint32_t> leaves = database.value()->LeavesOf("t").pages;
  for (size_t done = 0; done < leaves.size(); done += leaves_of_part) {
    SqliteDatabase again(*source, *database.value());
    const auto rest = std::span(leaves).subspan(done);
    SqliteScan scan(again, "t", kColumns, rest.first(std::min(rest.size(), leaves_of_part)));
    while (scan.Next()) numbers.push_back(scan.Int(0));
  }
  return numbers;
}

// What SQLite itself says of the only value of the only row of t.
struct Told {
  int64_t number = 0;
  std::string text;
};
Told AskSqlite(std::string bytes) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &db), SQLITE_OK);
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  EXPECT_EQ(sqlite3_deserialize(db, "main", reinterpret_cast<unsigned char*>(bytes.data()), size,
                                size, SQLITE_DESERIALIZE_READONLY),
            SQLITE_OK);
  sqlite3_stmt* row = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(db, "SELECT word FROM t", -1, &row, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_step(row), SQLITE_ROW);
  Told told{.number = sqlite3_column_int64(row, 0), .text = {}};
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, 0));
  if (text != nullptr) told.text.assign(text, static_cast<size_t>(sqlite3_column_bytes(row, 0)));
  sqlite3_finalize(row);
  sqlite3_close(db);
  return told;
}

TEST(SqliteDatabase, ReadsColumnsByName) {
  const auto source =
      MakeMemorySource(Make("CREATE TABLE t (word TEXT, number INTEGER); INSERT INTO t VALUES "
                            "('a', 7), (NULL, NULL), (x'6100', 0);"));
  auto database = SqliteDatabase::Open(*source);
  ASSERT_TRUE(database.ok());
  EXPECT_TRUE(database.value()->HasColumn("t", "word"));
  EXPECT_FALSE(database.value()->HasColumn("t", "missing"));
  SqliteScan scan(*database.value(), "t", kColumns);
  ASSERT_TRUE(scan.Next());
  EXPECT_EQ(scan.Int(0), 7);
  EXPECT_TRUE(scan.IsNull(1));
  EXPECT_EQ(scan.Int(1, 5), 5);
  EXPECT_EQ(scan.Text(2), "a");
  ASSERT_TRUE(scan.Next());
  EXPECT_EQ(scan.Int(0), kNone64);
  EXPECT_EQ(scan.Text(2), "");
  ASSERT_TRUE(scan.Next());
  EXPECT_EQ(scan.Int(0), 0);
  EXPECT_EQ(scan.Text(2).size(), 2u);
  EXPECT_FALSE(scan.Next());
  EXPECT_EQ(scan.damage(), "");
}

TEST(SqliteDatabase, PartsOfTablesAndTexts) {
  const std::string bytes = Counting(30000);  // a tree of three levels
  const Found found = Scan(bytes);
  EXPECT_EQ(found.numbers.size(), 30000u);
  EXPECT_EQ(found.damage, "");
  EXPECT_TRUE(std::ranges::is_sorted(found.numbers));
  for (size_t leaves : {size_t{1}, size_t{7}, size_t{100}})
    EXPECT_EQ(ScanInParts(bytes, leaves), found.numbers);
  const auto source = MakeMemorySource(bytes);
  auto database = SqliteDatabase::Open(*source);
  ASSERT_TRUE(database.ok());
  const std::vector<uint32_t> leaves = database.value()->LeavesOf("t").pages;
  EXPECT_NEAR(static_cast<double>(database.value()->CountRows(leaves)), 30000, 3000);
  EXPECT_TRUE(database.value()->LeavesOf("none").pages.empty());
  SqliteTexts texts(*database.value(), "t", "word");
  for (int64_t row : {1, 12, 4711, 29999, 30000})
    EXPECT_EQ(texts.Find(row), "word " + std::to_string(row));
  EXPECT_EQ(texts.Find(0), "");
  EXPECT_EQ(texts.Find(30001), "");
}

// Every way to write a value, and rows that go on behind their page.
TEST(SqliteDatabase, ValuesAreThoseOfSqlite) {
  for (const char* encoding : {"UTF-8", "UTF-16le", "UTF-16be"}) {
    for (const char* value : {"NULL",
                              "0",
                              "1",
                              "-1",
                              "127",
                              "-128",
                              "32767",
                              "-32768",
                              "8388607",
                              "-8388608",
                              "2147483647",
                              "-2147483648",
                              "140737488355327",
                              "-140737488355328",
                              "9223372036854775807",
                              "-9223372036854775807 - 1",
                              "1.5",
                              "-2.5e9",
                              "1e300",
                              "-1e300",
                              "'12 apples'",
                              "' -7'",
                              "'+5'",
                              "'99999999999999999999'",
                              "'none'",
                              "''",
                              "'\u00e4 \u4e00'",
                              "'\U0001f600'",
                              "x'6100'",
                              "printf('%.*c', 400, 'x')",
                              "printf('%.*c', 70000, 'y')"}) {
      const std::string bytes =
          Make(std::string("PRAGMA page_size = 512; PRAGMA encoding = '") + encoding +
               "'; CREATE TABLE t (filler, word); INSERT INTO t VALUES ('f', " + value + ");");
      const Told told = AskSqlite(bytes);
      const auto source = MakeMemorySource(bytes);
      auto database = SqliteDatabase::Open(*source);
      ASSERT_TRUE(database.ok());
      SqliteScan scan(*database.value(), "t", kColumns);
      ASSERT_TRUE(scan.Next()) << value;
      EXPECT_EQ(scan.Int(2, 0), told.number) << encoding << " " << value;
      const std::string_view word(value);
      const bool is_large = word.find("e300") != std::string_view::npos;
      // SQLite shows fewer digits of large numbers, and takes bytes for text in the file's
      // encoding.
      if (!is_large && !word.starts_with('x')) {
        EXPECT_EQ(scan.Text(2), told.text) << encoding << " " << value;
      }
      EXPECT_FALSE(scan.Next());
      EXPECT_EQ(scan.damage(), "");
    }
  }
}

TEST(SqliteDatabase, ColumnsThatAreNotInTheRow) {
  const auto source = MakeMemorySource(Make(
      "CREATE TABLE t (number INTEGER PRIMARY KEY, twice AS (2 * number), kept AS (3 * number) "
      "STORED, word TEXT); INSERT INTO t (number, word) VALUES (5, 'five'); "
      "ALTER TABLE t ADD COLUMN missing INTEGER;"));
  auto database = SqliteDatabase::Open(*source);
  ASSERT_TRUE(database.ok());
  SqliteScan scan(*database.value(), "t", kColumns);
  ASSERT_TRUE(scan.Next());
  EXPECT_EQ(scan.Int(0), 5);
  EXPECT_FALSE(scan.IsNull(0));
  EXPECT_TRUE(scan.IsNull(1));
  EXPECT_EQ(scan.Text(2), "five");
}

TEST(SqliteDatabase, DamagedPagesCostTheirRows) {
  std::string bytes = Counting(300);
  std::memset(bytes.data() + 512 * 6, 0x5a, 512);
  const Found found = Scan(bytes);
  EXPECT_GT(found.numbers.size(), 200u);
  EXPECT_LT(found.numbers.size(), 300u);
  EXPECT_NE(found.damage, "");
  EXPECT_EQ(ScanInParts(bytes, 1), found.numbers);
  EXPECT_EQ(ScanInParts(bytes, 3), found.numbers);
}

TEST(SqliteDatabase, CutAnywhere) {
  const std::string bytes = Counting(300);
  size_t before = 0;
  for (size_t size = 0; size <= bytes.size(); size += 256) {
    const size_t rows = Scan(bytes.substr(0, size)).numbers.size();
    EXPECT_LE(before, rows + 40) << size;
    before = rows;
  }
  EXPECT_EQ(before, 300u);
}

TEST(SqliteDatabase, WriteAheadModeWithoutItsLog) {
  std::string bytes = Counting(50);
  bytes[18] = bytes[19] = 2;
  EXPECT_EQ(Scan(bytes).numbers.size(), 50u);
}

TEST(SqliteDatabase, NothingOfTheFileIsExecuted) {
  const auto source = MakeMemorySource(Make(
      "CREATE TABLE a (x, y AS (length(hex(zeroblob(1000000))))); INSERT INTO a (x) VALUES (1);"
      "CREATE VIEW t AS WITH RECURSIVE n(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n) "
      "SELECT * FROM n;"
      "CREATE TABLE w (x PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES (1);"));
  auto database = SqliteDatabase::Open(*source);
  ASSERT_TRUE(database.ok());
  EXPECT_FALSE(database.value()->HasTable("t"));
  EXPECT_FALSE(database.value()->HasColumn("a", "y"));
  constexpr std::array<std::string_view, 1> kX = {"x"};
  SqliteScan without(*database.value(), "w", kX);
  EXPECT_FALSE(without.Next());
}

// A page that points at itself, and every single byte changed in turn: an end is always reached.
TEST(SqliteDatabase, CirclesEnd) {
  const std::string whole = Counting(120);
  for (size_t at = 100; at < whole.size(); at += 3) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
    const std::vector<int64_t> numbers = Scan(bytes).numbers;
    EXPECT_LE(numbers.size(), 240u) << at;
    EXPECT_EQ(ScanInParts(bytes, 1), numbers) << at;
  }
}

TEST(SqliteDatabase, NoDatabase) {
  EXPECT_FALSE(SqliteDatabase::Open(*MakeMemorySource("SQLite format 3")).ok());
  EXPECT_FALSE(SqliteDatabase::Open(*MakeMemorySource(std::string(5000, 'x'))).ok());
  EXPECT_TRUE(LooksLikeSqlite(Counting(1)));
  EXPECT_FALSE(LooksLikeSqlite("SQLite format 3"));
}

}  // namespace database_test
}  // namespace debrief
