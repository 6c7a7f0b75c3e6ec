// Databases made here, whole, damaged and made to harm; read through base/sqlite.
#include "base/sqlite/database.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
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

Found Scan(const std::string& bytes, RowidRange range = {}) {
  const auto source = MakeMemorySource(bytes);
  auto database = SqliteDatabase::Open(*source);
  Found found;
  if (!database.ok()) return found;
  SqliteScan scan(*database.value(), "t", kColumns, range);
  while (scan.Next()) found.numbers.push_back(scan.Int(0));
  found.damage = scan.damage();
  return found;
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

TEST(SqliteDatabase, RangesOfRowsAndTexts) {
  const std::string bytes = Counting(300);
  EXPECT_EQ(Scan(bytes).numbers.size(), 300u);
  const Found some = Scan(bytes, {.first = 100, .last = 102});
  EXPECT_EQ(some.numbers, (std::vector<int64_t>{100, 101, 102}));
  const auto source = MakeMemorySource(bytes);
  auto database = SqliteDatabase::Open(*source);
  ASSERT_TRUE(database.ok());
  const RowidRange rows = database.value()->RowidsOf("t");
  EXPECT_EQ(rows.first, 1);
  EXPECT_EQ(rows.last, 300);
  SqliteTexts texts(*database.value(), "t", "word");
  EXPECT_EQ(texts.Find(12), "word 12");
  EXPECT_EQ(texts.Find(999), "");
  EXPECT_GT(database.value()->RowidsOf("none").first, database.value()->RowidsOf("none").last);
}

TEST(SqliteDatabase, DamagedPagesCostTheirRows) {
  std::string bytes = Counting(300);
  std::memset(bytes.data() + 512 * 6, 0x5a, 512);
  const Found found = Scan(bytes);
  EXPECT_GT(found.numbers.size(), 200u);
  EXPECT_LT(found.numbers.size(), 300u);
  EXPECT_NE(found.damage, "");
  // Scans of parts find the same.
  std::vector<int64_t> parts;
  for (int64_t first = 0; first <= 300; first += 3 * SqliteScan::kAlignment) {
    const Found part =
        Scan(bytes, {.first = first, .last = first + 3 * SqliteScan::kAlignment - 1});
    parts.insert(parts.end(), part.numbers.begin(), part.numbers.end());
  }
  EXPECT_EQ(parts, found.numbers);
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
    EXPECT_LE(Scan(bytes).numbers.size(), 240u) << at;
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
