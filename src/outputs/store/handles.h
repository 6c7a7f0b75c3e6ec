// The library's objects of one query, destroyed with the scope.
#pragma once

#include "outputs/store/duckdb_api.h"

namespace debrief::outputs::store {

struct Statements {
  explicit Statements(const DuckDbApi& duckdb) : api(duckdb) {}
  Statements(const Statements&) = delete;
  ~Statements() { api.destroy_extracted(&handle); }
  const DuckDbApi& api;
  duckdb_extracted_statements handle = nullptr;
};

struct Prepared {
  explicit Prepared(const DuckDbApi& duckdb) : api(duckdb) {}
  Prepared(const Prepared&) = delete;
  ~Prepared() { api.destroy_prepare(&handle); }
  const DuckDbApi& api;
  duckdb_prepared_statement handle = nullptr;
};

struct Rows {
  explicit Rows(const DuckDbApi& duckdb) : api(duckdb) {}
  Rows(const Rows&) = delete;
  ~Rows() { api.destroy_result(&handle); }
  const DuckDbApi& api;
  duckdb_result handle = {};
};

struct Chunk {
  Chunk(const DuckDbApi& duckdb, duckdb_data_chunk chunk) : api(duckdb), handle(chunk) {}
  Chunk(const Chunk&) = delete;
  ~Chunk() { api.destroy_data_chunk(&handle); }
  const DuckDbApi& api;
  duckdb_data_chunk handle;
};

}  // namespace debrief::outputs::store
