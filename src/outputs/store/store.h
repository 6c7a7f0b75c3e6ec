// The store: run.duckdb, all tables of a run in one file that DuckDB and anything that speaks to it
// can read, and with --parquet one Parquet file a table. (Parquet alone: parquet_store.h.)
//
//   <out>/run.duckdb              table `debrief_meta` (key, value): schema, version, run
//                                 a view for each table of docs/tables.md (text_column.h)
//   <out>/parquet/<table>.parquet
//
// Files are written under another name and renamed when they are whole: what lies under the final
// name is a complete store, the old or the new one.
#pragma once

#include <string>

#include "base/status.h"
#include "outputs/output.h"
#include "outputs/store/database.h"

namespace debrief::outputs::store {

inline constexpr std::string_view kStoreFile = "run.duckdb";
// Counts up when a table or column is renamed, removed or changes its meaning; not for new ones.
inline constexpr int kStoreSchema = 1;

const Output& Describe();

// Every table whose name begins with `prefix` as <folder>/<table>.parquet; the folder is made when
// it is missing. The tables pass through a database in that folder, which is gone afterwards:
// memory is bounded whatever their size.
Status WriteParquetTables(const Model& model, const std::string& folder, std::string_view prefix);

// ('schema', '1'), ...: what debrief_meta holds, as rows of SQL.
std::string MetaRows(const Model& model);

// Where the store lies that `path` names: that file, or the one in that folder.
std::string StorePath(const std::string& path);

// kChanged when findings.json or index.html beside the store that `path` names are of another run.
Status CheckRun(const std::string& path, Database& database);

// Opens a store for reading; `path` is the file or the folder that holds it, as run.duckdb or as
// Parquet. kNotFound and
// kUnsupported (made by a newer version) say what to do.
Result<Database> OpenStore(const std::string& path, OpenOptions options = {});

}  // namespace debrief::outputs::store
