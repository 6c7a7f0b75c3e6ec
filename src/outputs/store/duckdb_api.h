// DuckDB's C API, loaded when it is first needed.
//
// The library is 65 MB. Linked in the ordinary way it would be mapped and relocated at every start
// of every command; most of them never open a store. So it is opened with dlopen() and each
// function is a pointer of the type that duckdb.h declares:
//
//   ASSIGN_OR_RETURN(const DuckDbApi* api, LoadDuckDb());
//   api->open_ext(...);                          // duckdb_open_ext
//
// Only the C API: its functions keep their meaning over versions of the library, the C++ one does
// not.
#pragma once

#include <duckdb.h>

#include <string>
#include <utility>

#include "base/status.h"

namespace debrief::outputs::store {

// What we use, without the prefix duckdb_.
// clang-format off
#define DEBRIEF_DUCKDB_FUNCTIONS(X)                                                      \
  /* database and connection */                                                          \
  X(create_config) X(set_config) X(destroy_config) X(open_ext) X(close) X(connect)       \
  X(disconnect) X(interrupt) X(free)                                                     \
  /* statements */                                                                       \
  X(query) X(extract_statements) X(extract_statements_error) X(destroy_extracted)        \
  X(prepare_extracted_statement) X(prepare_error) X(destroy_prepare)                     \
  X(prepared_statement_type) X(execute_prepared_streaming)                               \
  /* results */                                                                          \
  X(result_error) X(result_error_type) X(result_return_type) X(destroy_result)           \
  X(column_count) X(column_name) X(column_logical_type) X(fetch_chunk)                   \
  /* types */                                                                            \
  X(create_logical_type) X(create_enum_type) X(destroy_logical_type) X(get_type_id)      \
  X(enum_internal_type) X(enum_dictionary_size) X(enum_dictionary_value)                 \
  X(decimal_internal_type) X(decimal_scale) X(list_type_child_type)                      \
  X(array_type_child_type) X(array_type_array_size) X(map_type_key_type)                 \
  X(map_type_value_type) X(struct_type_child_count) X(struct_type_child_name)            \
  X(struct_type_child_type)                                                              \
  /* chunks and vectors */                                                               \
  X(destroy_data_chunk) X(data_chunk_get_size) X(data_chunk_set_size)                    \
  X(data_chunk_get_vector) X(vector_get_data) X(vector_get_validity)                     \
  X(vector_ensure_validity_writable) X(vector_assign_string_element_len) X(vector_size)  \
  X(list_vector_get_child) X(array_vector_get_child) X(struct_vector_get_child)          \
  /* table functions */                                                                  \
  X(create_table_function) X(destroy_table_function) X(table_function_set_name)          \
  X(table_function_set_extra_info) X(table_function_set_bind) X(table_function_set_init) \
  X(table_function_set_function) X(register_table_function) X(bind_get_extra_info)       \
  X(bind_add_result_column) X(bind_set_cardinality) X(init_get_extra_info)               \
  X(init_set_max_threads) X(function_get_extra_info)
// clang-format on

// A function of the library that lets nothing out: what is thrown inside (out of memory, a store
// that changes under it, settings that no longer fit) is its failed result, and the words of it are
// ThrownText(). Nothing of ours could catch it: core is built without exceptions.
template <auto kName>
struct Guarded;
template <typename R, typename... Args, R (*kName)(Args...)>
struct Guarded<kName> {
  using Function = R (*)(Args...);
  R operator()(Args... args) const;  // duckdb_guard.cc
  Function function = nullptr;
};

// What the last call of this thread that failed by an exception said; then forgotten.
std::string ThrownText();

struct DuckDbApi {
#define DEBRIEF_DUCKDB_MEMBER(name) Guarded<&::duckdb_##name> name;
  DEBRIEF_DUCKDB_FUNCTIONS(DEBRIEF_DUCKDB_MEMBER)
#undef DEBRIEF_DUCKDB_MEMBER
};

// An object of the library that is destroyed with the scope.
template <typename T, auto DuckDbApi::* kDestroy>
struct Owned {
  explicit Owned(const DuckDbApi& duckdb, T object = {}) : api(duckdb), handle(object) {}
  Owned(Owned&& other) noexcept : api(other.api), handle(std::exchange(other.handle, {})) {}
  ~Owned() { (api.*kDestroy)(&handle); }
  const DuckDbApi& api;
  T handle;
};
// A connection to a database, which must outlive it. Each thread needs its own.
using Connection = Owned<duckdb_connection, &DuckDbApi::disconnect>;
using Config = Owned<duckdb_config, &DuckDbApi::destroy_config>;
using Statements = Owned<duckdb_extracted_statements, &DuckDbApi::destroy_extracted>;
using Prepared = Owned<duckdb_prepared_statement, &DuckDbApi::destroy_prepare>;
using Rows = Owned<duckdb_result, &DuckDbApi::destroy_result>;
using Chunk = Owned<duckdb_data_chunk, &DuckDbApi::destroy_data_chunk>;
using LogicalType = Owned<duckdb_logical_type, &DuckDbApi::destroy_logical_type>;

// Loads the library that lies beside the program, or in ../lib/debrief from it (where `cmake
// --install` puts it). The first call does the work, later ones return the same; any thread may
// call.
Result<const DuckDbApi*> LoadDuckDb();

// As above from one given file, always anew: LoadDuckDb() without its search, for tests.
Status LoadDuckDbFrom(const std::string& file, DuckDbApi& api);

}  // namespace debrief::outputs::store
