// A table is columns of plain numbers, declared in a tables.def and generated into a struct of
// vectors.
//
//   src/<folder>/tables.def  --tools/gen_tables.py-->  tables/<name>.h    the C++ columns
//                                                      the DuckDB schema  (through TableInfo)
//                                                      docs/tables.md
//
// A table that may have a row for each line of a log is `packed`: its columns take few bits a
// value.
//
// Code that knows a table uses the generated struct (`tables.Get<OpEventTable>().duration_ns[i]`).
// Code that does not (store, docs, SQL) walks TableInfo and ColumnInfo.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pools/ids.h"
#include "model/packed_column.h"

namespace debrief {

enum class ColumnType : uint8_t {
  kInt32,   // int32_t, kNone32 = null
  kInt64,   // int64_t, kNone64 = null
  kDouble,  // double, NaN = null
  kBool,    // uint8_t, 0 or 1
  kString,  // StringId
  kList,    // ListId, list of int64
  kStack,   // StackId
};

// The name in tables.def ("i64") of a type; docs/tables.md and `debrief list tables` use the SQL
// name.
std::string_view SqlTypeName(ColumnType type);

struct ColumnInfo {
  std::string_view name;
  ColumnType type;
  std::string_view doc;
};

struct TableInfo {
  std::string_view name;
  std::string_view owner;  // the folder that declares it, for example "inputs/op_trace"
  std::string_view doc;    // what one row is
  std::span<const ColumnInfo> columns;
};

class Table {
 public:
  Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  virtual ~Table() = default;

  virtual const TableInfo& info() const = 0;
  virtual size_t size() const = 0;
  // Copies `count` values of column `index` to `values`, an array of the C++ type that ColumnType
  // names.
  virtual void Copy(size_t index, size_t first_row, size_t count, void* values) const = 0;
  // Appends the rows of `part`, a table of the same type, with its ids translated.
  virtual void Append(const Table& part, const Remap& remap) = 0;
  // Translates the ids of all rows in place.
  virtual void Translate(const Remap& remap) = 0;
};

// Joining columns. A vector doubles when it is full; a quarter more is enough to stay linear, and a
// table of a gigabyte then wastes 125 MB on average and not 500.
template <typename T>
void MakeRoom(std::vector<T>& column, size_t more) {
  size_t needed = column.size() + more;
  if (needed > column.capacity())
    column.reserve(std::max(needed, column.size() + column.size() / 4));
}

template <typename T>
void MakeRoom(PackedColumn<T>& column, size_t more) {
  column.reserve(column.size() + more);
}

template <typename T>
void AppendColumn(std::vector<T>& column, const std::vector<T>& part) {
  MakeRoom(column, part.size());
  column.insert(column.end(), part.begin(), part.end());
}

template <typename T>
void AppendColumn(PackedColumn<T>& column, const PackedColumn<T>& part) {
  MakeRoom(column, part.size());
  for (T value : part) column.push_back(value);
}

template <typename Column>
void AppendColumn(Column& column, const Column& part, const Remap& remap) {
  MakeRoom(column, part.size());
  for (auto id : part) column.push_back(remap(id));
}

template <typename Column>
void TranslateColumn(Column& column, const Remap& remap) {
  for (size_t row = 0; row < column.size(); ++row) column[row] = remap(std::as_const(column)[row]);
}

// As bytes: the store reads ids of all types as numbers.
template <typename Column>
void CopyColumn(const Column& column, size_t first_row, size_t count, void* values) {
  auto* to = static_cast<char*>(values);
  for (size_t row = first_row; row < first_row + count; ++row) {
    auto value = column[row];
    std::memcpy(to, &value, sizeof value);
    to += sizeof value;
  }
}

template <typename T>
void GatherColumn(std::vector<T>& column, std::span<const uint32_t> from) {
  std::vector<T> gathered(from.size());
  for (size_t i = 0; i < from.size(); ++i) gathered[i] = column[from[i]];
  column = std::move(gathered);
}

template <typename T>
void GatherColumn(PackedColumn<T>& column, std::span<const uint32_t> from) {
  PackedColumn<T> gathered;
  for (uint32_t row : from) gathered.push_back(std::as_const(column)[row]);
  column = std::move(gathered);
}

// Generated (tables/all_tables.cc): every table there is, in order of name; TableId is the
// position.
using TableId = uint32_t;
std::span<const TableInfo* const> AllTables();
// Null when there is no table of that name.
const TableInfo* FindTable(std::string_view name);
std::unique_ptr<Table> MakeTable(TableId id);

// One of each table; a table nobody wrote to costs one null pointer.
class TableSet {
 public:
  TableSet() : tables_(AllTables().size()) {}

  // The table for writing.
  template <typename T>
  T& Edit() {
    if (tables_[T::kId] == nullptr) tables_[T::kId] = MakeTable(T::kId);
    return static_cast<T&>(*tables_[T::kId]);
  }

  // The table for reading; an empty one when nobody wrote to it.
  template <typename T>
  const T& Get() const {
    static const T kEmpty;
    return tables_[T::kId] == nullptr ? kEmpty : static_cast<const T&>(*tables_[T::kId]);
  }

  // Null when nobody wrote to it.
  const Table* Find(TableId id) const { return tables_[id].get(); }
  // By name; null when there is no such table, or when it was never filled.
  const Table* Find(std::string_view name) const;
  // Likewise, and null when it has no rows.
  const Table* FindFilled(std::string_view name) const;

  // Joins the tables of `part`; one that is not here yet is taken over as it is, without a copy.
  void Append(TableSet&& part, const Remap& remap);

 private:
  std::vector<std::unique_ptr<Table>> tables_;
};

// One value of a column of that type.
template <typename T>
T ValueAt(const Table& table, size_t column, size_t row) {
  T value{};
  table.Copy(column, row, 1, &value);
  return value;
}

}  // namespace debrief
