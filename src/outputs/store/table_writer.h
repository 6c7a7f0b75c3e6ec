// Writes the tables of a model into a database: `stored.<table>` and the view `<table>`
// (text_column.h says why two).
//
// DuckDB pulls the rows: a table function hands it chunks of our columns, and
//
//   CREATE TABLE stored.op_event AS SELECT * FROM debrief_rows()
//
// stores them. That is as fast as DuckDB's appender and one copy shorter, and no text of an input
// is ever part of a statement: ENUM members travel in the types that the function binds.
//
// Cost: 5 to 6 M rows a second for six columns; memory is DuckDB's buffers, the model is not
// copied.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "model/model.h"
#include "outputs/store/database.h"

namespace debrief::outputs::store {

// Every table of AllTables() whose name begins with `prefix`. One without rows is a view of
// nothing, which costs a quarter of a millisecond and no page of the file: a query on it gives no
// rows and no error. Rows keep their order. `database` must be open for writing and have no such
// tables yet.
Status WriteTables(const Part& part, std::string_view prefix, Database& database);

// Every table that has rows as <folder>/<table>.parquet. Rows go through `database` and do not stay
// in it.
Status WriteParquetFiles(const Part& part, const std::string& folder, Database& database);

// The statement that makes the view of a table without rows.
std::string ViewOfNothing(const TableInfo& table);

}  // namespace debrief::outputs::store
