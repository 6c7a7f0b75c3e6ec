// Which functions a reader's statement may call, as DuckDB's own parser sees it.
#include "serve/sql_functions.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "outputs/store/query.h"

namespace debrief::serve {
namespace sql_functions_test {

Status Check(const std::string& sql) {
  static outputs::store::Database database =
      outputs::store::Database::Open("", {.mode = outputs::store::OpenMode::kMemory}).value();
  auto cells = outputs::store::ReadCells(database, ParseSql(sql));
  return cells.ok() ? CheckFunctions(cells.value()[0][0]) : cells.status();
}

TEST(SqlFunctions, WhatReadsIsRun) {
  for (const char* sql : {"SELECT 1", "FROM range(3)", "SHOW TABLES", "FROM duckdb_columns()",
                          "SELECT 'FROM enable_logging()' AS \"enable_logging()\"",
                          "SELECT \"\"\"function_name\"\":\"\"x\" FROM t",
                          "SELECT lower(x), count(*) FROM t, unnest([1, 2])"})
    EXPECT_TRUE(Check(sql).ok()) << sql << Check(sql).ToString();
}

TEST(SqlFunctions, WhatActsIsNot) {
  for (const char* sql :
       {"FROM enable_logging()", "FROM main.\"Enable_Logging\"()", "SELECT (FROM checkpoint())",
        "SELECT 1 WHERE EXISTS (FROM truncate_duckdb_logs())", "FROM range(3), read_text('x')",
        "WITH a AS (FROM query('SELECT 1')) FROM a", "SELECT write_log('x') FROM range(2)",
        "FROM range(3) UNION ALL FROM arrow_scan(1, 2, 3)", "DROP TABLE x", "PRAGMA version"})
    EXPECT_FALSE(Check(sql).ok()) << sql;
}

// Calls of a library that throws.
TEST(SqlFunctions, WhatIsThrownInsideIsAFailedCall) {
  outputs::store::DuckDbApi api;
  api.vector_size.function = []() -> idx_t { throw std::runtime_error("no memory"); };
  EXPECT_EQ(api.vector_size(), 0U);
  EXPECT_EQ(outputs::store::ThrownText(), "no memory");
  EXPECT_EQ(outputs::store::ThrownText(), "");
  api.query.function = [](duckdb_connection, const char*, duckdb_result*) -> duckdb_state {
    throw 5;
  };
  EXPECT_EQ(api.query(nullptr, "", nullptr), DuckDBError);
}

}  // namespace sql_functions_test
}  // namespace debrief::serve
