#include "serve/column_type_name.h"

#include <fmt/format.h>

#include <utility>

namespace debrief::serve {

namespace {

constexpr std::pair<duckdb_type, const char*> kNames[] = {
    {DUCKDB_TYPE_BOOLEAN, "BOOLEAN"},
    {DUCKDB_TYPE_TINYINT, "TINYINT"},
    {DUCKDB_TYPE_SMALLINT, "SMALLINT"},
    {DUCKDB_TYPE_INTEGER, "INTEGER"},
    {DUCKDB_TYPE_BIGINT, "BIGINT"},
    {DUCKDB_TYPE_HUGEINT, "HUGEINT"},
    {DUCKDB_TYPE_UTINYINT, "UTINYINT"},
    {DUCKDB_TYPE_USMALLINT, "USMALLINT"},
    {DUCKDB_TYPE_UINTEGER, "UINTEGER"},
    {DUCKDB_TYPE_UBIGINT, "UBIGINT"},
    {DUCKDB_TYPE_UHUGEINT, "UHUGEINT"},
    {DUCKDB_TYPE_FLOAT, "FLOAT"},
    {DUCKDB_TYPE_DOUBLE, "DOUBLE"},
    {DUCKDB_TYPE_DECIMAL, "DECIMAL"},
    {DUCKDB_TYPE_VARCHAR, "VARCHAR"},
    {DUCKDB_TYPE_ENUM, "ENUM"},
    {DUCKDB_TYPE_BLOB, "BLOB"},
    {DUCKDB_TYPE_DATE, "DATE"},
    {DUCKDB_TYPE_TIME, "TIME"},
    {DUCKDB_TYPE_TIMESTAMP, "TIMESTAMP"},
    {DUCKDB_TYPE_TIMESTAMP_S, "TIMESTAMP_S"},
    {DUCKDB_TYPE_TIMESTAMP_MS, "TIMESTAMP_MS"},
    {DUCKDB_TYPE_TIMESTAMP_NS, "TIMESTAMP_NS"},
    {DUCKDB_TYPE_TIMESTAMP_TZ, "TIMESTAMP WITH TIME ZONE"},
    {DUCKDB_TYPE_INTERVAL, "INTERVAL"},
    {DUCKDB_TYPE_UUID, "UUID"},
    {DUCKDB_TYPE_STRUCT, "STRUCT"},
    {DUCKDB_TYPE_MAP, "MAP"},
    {DUCKDB_TYPE_SQLNULL, "NULL"},
};

}  // namespace

std::string ColumnTypeName(const outputs::store::ValueType& type) {
  if (type.id == DUCKDB_TYPE_LIST && !type.children.empty())
    return ColumnTypeName(type.children[0]) + "[]";
  if (type.id == DUCKDB_TYPE_ARRAY && !type.children.empty())
    return fmt::format("{}[{}]", ColumnTypeName(type.children[0]), type.array_size);
  for (const auto& [id, name] : kNames) {
    if (id == type.id) return name;
  }
  return "OTHER";
}

}  // namespace debrief::serve
