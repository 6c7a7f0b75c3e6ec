// The store as Parquet files (--store parquet), for engines other than DuckDB and for reports that
// are kept by the thousand: one file a table that has rows, and no run.duckdb.
//
//   <out>/parquet/<table>.parquet        columns as docs/tables.md says, rows in order
//   <out>/parquet/debrief_meta.parquet   as the table of that name in run.duckdb
//
// For reading it is a database in memory whose views read the files, under the same names as in
// run.duckdb: whatever queries the one queries the other.
#pragma once

#include <string>

#include "base/status.h"
#include "outputs/output.h"
#include "outputs/store/database.h"

namespace debrief::outputs::store {

const Output& ParquetStore();

// Whether `path` is a report that has its tables as Parquet alone.
bool HasParquetAlone(const std::string& path);

// Opens that of the report `folder`.
Result<Database> OpenParquetStore(const std::string& folder, OpenOptions options);

}  // namespace debrief::outputs::store
