// Runs SQL and prints what comes back: `debrief query`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "outputs/output.h"
#include "outputs/store/database.h"
#include "outputs/store/value_type.h"

namespace debrief::outputs::store {

enum class QueryFormat : uint8_t {
  kTable,     // aligned columns for people; NULL is shown as NULL
  kBox,       // likewise with lines around the cells
  kCsv,       // RFC 4180 with a header, lines end in \n; NULL is an empty field, an empty text ""
  kJson,      // an array of objects; numbers, booleans and lists as such; NaN and infinity are null
  kMarkdown,  // a table of GitHub and GitLab; NULL is an empty cell
};

struct QueryOptions {
  QueryFormat format = QueryFormat::kTable;
  uint64_t max_rows = 0;  // 0: all of them
  int width = 0;  // kTable, kBox: of the terminal, wide cells are cut to fit; 0: nothing is cut
};

// Runs the statements of `sql` in order and prints the rows of each that gives rows, with an empty
// line between two of them (JSON: one array after the other, `[]` when none gives rows). Rows are
// fetched, printed and forgotten chunk by chunk; only kTable and kBox hold them, at most max_rows,
// since widths are known at the end. An error in mid-result leaves the rows before it printed.
//
// What switches DuckDB's logging on is refused: it would outlive the statement.
//
// kUsage with DuckDB's message, which names the nearest table or column, when the SQL is wrong.
Status RunQuery(Database& database, const std::string& sql, const QueryOptions& options,
                TextSink& out);

// The rows of the last statement as texts; those of nulls are empty.
Result<std::vector<std::vector<std::string>>> ReadCells(Database& database, const std::string& sql);

// ---- The pieces, for whoever asks in another way (serve/sql_page.h).

// Prepares statement `index`; kUsage with DuckDB's message.
Status PrepareStatement(duckdb_connection connection, const Statements& statements, idx_t index,
                        Prepared& prepared);

struct ResultColumn {
  std::string name;
  ValueType type;
};
Result<std::vector<ResultColumn>> ReadColumns(Rows& rows);

// Until there are no more rows, or `on_row` returns false or an error.
using OnRow = std::function<Result<bool>(std::span<const VectorView> values, uint64_t row)>;
Status ForEachRow(Rows& rows, const std::vector<ResultColumn>& columns, const OnRow& on_row);

// The ways to print rows.
class RowPrinter {
 public:
  virtual ~RowPrinter() = default;

  virtual void Start(const std::vector<ResultColumn>& columns) = 0;
  virtual void Row(std::span<const VectorView> values, uint64_t row) = 0;
  // `more`: there were rows that were not printed.
  virtual void Finish(bool more) = 0;
};

std::unique_ptr<RowPrinter> MakeBoxPrinter(int width, TextSink& out);
std::unique_ptr<RowPrinter> MakeRowPrinter(const QueryOptions& options, TextSink& out);

}  // namespace debrief::outputs::store
