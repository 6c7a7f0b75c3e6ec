// A table is columns of plain numbers, declared in a tables.def and generated into a struct of
// vectors.
//
//   src/<folder>/tables.def --tools/gen_tables.py--> tables/<name>.h  the C++ columns
//                                                    TableInfo        the DuckDB schema, sheets,
//                                                    SQL tables.d.ts      rows in the report
//                                                    tables.md        docs/tables.md
//
// A table that may have a row for each line of a log is `packed`: its columns take few bits a
// value. A column that mostly has one value in all rows is `uniform`, and then takes no room.
//
// Code that knows a table uses the generated struct (`tables.Get<OpEventTable>().duration_ns[i]`).
// Code that does not (store, sheets, SQL) walks TableInfo and ColumnInfo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pools/ids.h"
#include "model/packed_column.h"
#include "model/uniform_column.h"

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

// What the numbers of a column are, so that every output writes them the same way.
enum class ColumnUnit : uint8_t {
  kNone,  // text, flags, ids, counts
  kNs,
  kUs,
  kMs,
  kSeconds,
  kBytes,
  kShare,    // 0.5 is the half
  kPercent,  // 50 is the half
  kMhz,
  kPpb,  // parts in 1e9
  kCycles,
};
// As tables.def and the docs write it ("ns"); empty for kNone.
std::string_view UnitName(ColumnUnit unit);

struct ColumnInfo {
  std::string_view name;
  ColumnType type;
  std::string_view doc;
  ColumnUnit unit = ColumnUnit::kNone;
  std::string_view label = {};  // the head of the column where people read it
  bool is_uniform = false;      // it is a UniformColumn
};

class Table;

struct TableInfo {
  std::string_view name;
  std::string_view owner;  // the folder that declares it, for example "inputs/op_trace"
  std::string_view doc;    // what one row is
  std::span<const ColumnInfo> columns;
  std::string_view family = {};  // tables of one family are about one kind of input
  bool is_derived = false;       // made by an analysis; the others hold what inputs say
  bool is_packed = false;  // but for doubles, the columns are PackedColumn and not std::vector
  std::unique_ptr<Table> (*make)() = nullptr;
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
  void Copy(size_t index, size_t first_row, size_t count, void* values) const;
  // Appends the rows of `part`, a table of the same type, with its ids translated.
  void Append(const Table& part, const Remap& remap);
  // Translates the ids of all rows in place.
  void Translate(const Remap& remap);
  void Reserve(size_t wanted_rows);
  // Appends `count` values to column `index`, as Copy gives them. Rows are whole once all columns
  // have got as many.
  void Extend(size_t index, size_t count, const void* values);
  // Row i becomes what row from[i] was; rows that `from` does not name are gone.
  void Gather(std::span<const uint32_t> from);

 private:
  // The address of a column: what the functions above know of the generated class.
  virtual const void* column(size_t number) const = 0;
  void* column(size_t number) {
    return const_cast<void*>(
        std::as_const(*this).column(number));  // NOLINT: the table is not const
  }
};

// Generated (tables/all_tables.cc): every table there is, in order of name; TableId is the
// position.
using TableId = uint32_t;
std::span<const TableInfo* const> AllTables();
// Null when there is no table of that name.
const TableInfo* FindTable(std::string_view name);

// Builds for tests (DEBRIEF_CHECK_TABLES) end when an analysis reads or makes a table that it does
// not declare (model/declared_tables.h); others do not check.
#ifdef DEBRIEF_CHECK_TABLES
void CheckRead(TableId id);
void CheckMade(TableId id);
#else
inline void CheckRead(TableId) {}
inline void CheckMade(TableId) {}
#endif

// One of each table; a table nobody wrote to costs one null pointer.
class TableSet {
 public:
  TableSet() : tables_(AllTables().size()) {}

  // The table for writing.
  template <typename T>
  T& Edit() {
    CheckMade(T::kId);
    if (tables_[T::kId] == nullptr) tables_[T::kId] = T::kInfo.make();
    return static_cast<T&>(*tables_[T::kId]);
  }

  // Likewise, by number.
  Table& Edit(TableId id) {
    CheckMade(id);
    if (tables_[id] == nullptr) tables_[id] = AllTables()[id]->make();
    return *tables_[id];
  }

  // The table for reading; an empty one when nobody wrote to it.
  template <typename T>
  const T& Get() const {
    static const T kEmpty;
    CheckRead(T::kId);
    return tables_[T::kId] == nullptr ? kEmpty : static_cast<const T&>(*tables_[T::kId]);
  }

  // Null when nobody wrote to it.
  const Table* Find(TableId id) const {
    CheckRead(id);
    return tables_[id].get();
  }
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
