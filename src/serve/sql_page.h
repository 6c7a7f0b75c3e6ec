// One page of a query's rows. The statement stands inside of ours:
//
//   SELECT * FROM (
//   <sql>
//   ) LIMIT 201 OFFSET 400
//
// so DuckDB computes no more than the page needs (an ORDER BY becomes a top-N), and one row more
// than asked for tells whether there are more. Memory: the page, at most kMaxPageBytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes/unique_fd.h"
#include "base/status.h"
#include "outputs/store/database.h"
#include "serve/cancel.h"

namespace debrief::serve {

inline constexpr uint64_t kMaxPageRows = 10'000;
inline constexpr size_t kMaxPageBytes = 8 << 20;
inline constexpr uint64_t kMaxCsvBytes = uint64_t{1} << 30;
inline constexpr uint64_t kMaxCsvRowBytes = uint64_t{64} << 20;

// What a query that was cancelled is told.
Status GivenUp();

struct Page {
  std::string columns;  // JSON: [{"name": "rank", "type": "INTEGER"}]
  std::string rows;     // JSON: [[0, "a"], [1, null]]
  bool more = false;
};

// kUsage with DuckDB's message, or ours: nothing but one statement that reads is run, and of table
// functions only those that neither change the database nor reach out of it (sql_functions.h).
// kLimit when it was cancelled, or one row alone is larger than a page.
//
// Integers that a double cannot hold (beyond 2^53) are texts in `rows`, so that a browser shows all
// their digits.
Result<Page> ReadPage(outputs::store::Connection& connection, const std::string& sql,
                      uint64_t limit, uint64_t offset, CancelToken& cancel);

// All rows as CSV in a file without a name in `folder`; `bytes` is its length.
Result<UniqueFd> WriteCsv(outputs::store::Connection& connection, const std::string& sql,
                          const std::string& folder, CancelToken& cancel, int64_t& bytes);

// All rows of a statement of ours, which gives few, as texts.
Result<std::vector<std::vector<std::string>>> ReadTexts(outputs::store::Connection& connection,
                                                        const std::string& sql,
                                                        CancelToken& cancel);

}  // namespace debrief::serve
