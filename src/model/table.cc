#include "model/table.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace debrief {

std::string_view SqlTypeName(ColumnType type) {
  static constexpr std::string_view kNames[] = {"INTEGER", "BIGINT",   "DOUBLE",   "BOOLEAN",
                                                "VARCHAR", "BIGINT[]", "VARCHAR[]"};
  return kNames[static_cast<size_t>(type)];
}

std::string_view UnitName(ColumnUnit unit) {
  static constexpr std::string_view kNames[] = {"",      "ns",  "us",  "ms",  "s",     "bytes",
                                                "share", "pct", "MHz", "ppb", "cycles"};
  return kNames[static_cast<size_t>(unit)];
}

namespace {

template <typename T>
constexpr bool kIsId =
    std::is_same_v<T, StringId> || std::is_same_v<T, ListId> || std::is_same_v<T, StackId>;

template <typename Column>
using ValueOf = std::remove_cvref_t<decltype(std::declval<const Column&>()[0])>;

// Calls `visit` with the column as what it is; `address` is a void* or a const void*.
template <typename T, typename Address, typename Visit>
void VisitAs(bool is_packed, bool is_uniform, Address address, Visit visit) {
  constexpr bool kConst = std::is_same_v<Address, const void*>;
  using Uniform = std::conditional_t<kConst, const UniformColumn<T>, UniformColumn<T>>;
  if (is_uniform) return visit(*static_cast<Uniform*>(address));
  using Vector = std::conditional_t<kConst, const std::vector<T>, std::vector<T>>;
  if constexpr (!std::is_same_v<T, double>) {
    using Packed = std::conditional_t<kConst, const PackedColumn<T>, PackedColumn<T>>;
    if (is_packed) return visit(*static_cast<Packed*>(address));
  }
  visit(*static_cast<Vector*>(address));
}

template <typename Address, typename Visit>
void VisitColumn(const TableInfo& info, size_t index, Address address, Visit visit) {
  const bool is_uniform = info.columns[index].is_uniform;
  switch (info.columns[index].type) {
    case ColumnType::kInt32:
      return VisitAs<int32_t>(info.is_packed, is_uniform, address, visit);
    case ColumnType::kInt64:
      return VisitAs<int64_t>(info.is_packed, is_uniform, address, visit);
    case ColumnType::kDouble:
      return VisitAs<double>(info.is_packed, is_uniform, address, visit);
    case ColumnType::kBool:
      return VisitAs<uint8_t>(info.is_packed, is_uniform, address, visit);
    case ColumnType::kString:
      return VisitAs<StringId>(info.is_packed, is_uniform, address, visit);
    case ColumnType::kList:
      return VisitAs<ListId>(info.is_packed, is_uniform, address, visit);
    case ColumnType::kStack:
      return VisitAs<StackId>(info.is_packed, is_uniform, address, visit);
  }
}

// A vector doubles when it is full; a quarter more is enough to stay linear, and a table of a
// gigabyte then wastes 125 MB on average and not 500.
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
void MakeRoom(UniformColumn<T>&, size_t) {}

template <typename T>
void AppendColumn(UniformColumn<T>& column, const UniformColumn<T>& part, const Remap& remap) {
  column.Append(part, [&](T value) {
    if constexpr (kIsId<T>) return remap(value);
    return value;
  });
}

template <typename Column>
void AppendColumn(Column& column, const Column& part, const Remap& remap) {
  MakeRoom(column, part.size());
  if constexpr (kIsId<ValueOf<Column>>) {
    for (auto id : part) column.push_back(remap(id));
  } else if constexpr (std::is_same_v<Column, std::vector<ValueOf<Column>>>) {
    column.insert(column.end(), part.begin(), part.end());
  } else {
    for (auto value : part) column.push_back(value);
  }
}

template <typename Id>
void TranslateColumn(UniformColumn<Id>& ids, const Remap& remap) {
  ids.Translate(remap);
}

template <typename Column>
void TranslateColumn(Column& ids, const Remap& remap) {
  for (size_t row = 0; row < ids.size(); ++row) ids[row] = remap(std::as_const(ids)[row]);
}

template <typename T>
void GatherColumn(std::vector<T>& column, std::span<const uint32_t> from) {
  std::vector<T> gathered(from.size());
  for (size_t i = 0; i < from.size(); ++i) gathered[i] = column[from[i]];
  column = std::move(gathered);
}

// Packed or uniform.
template <typename Column>
void GatherColumn(Column& column, std::span<const uint32_t> from) {
  Column gathered;
  for (uint32_t row : from) gathered.push_back(std::as_const(column)[row]);
  column = std::move(gathered);
}

}  // namespace

void Table::Copy(size_t index, size_t first_row, size_t count, void* values) const {
  // As bytes: the store reads ids of all types as numbers.
  VisitColumn(info(), index, column(index), [&](const auto& from) {
    auto* to = static_cast<char*>(values);
    for (size_t row = first_row; row < first_row + count; ++row) {
      auto value = from[row];
      std::memcpy(to, &value, sizeof value);
      to += sizeof value;
    }
  });
}

void Table::Append(const Table& part, const Remap& remap) {
  for (size_t i = 0; i < info().columns.size(); ++i) {
    VisitColumn(info(), i, column(i), [&]<typename Column>(Column& to) {
      AppendColumn(to, *static_cast<const Column*>(part.column(i)), remap);
    });
  }
}

void Table::Translate(const Remap& remap) {
  for (size_t i = 0; i < info().columns.size(); ++i) {
    VisitColumn(info(), i, column(i), [&]<typename Column>(Column& ids) {
      if constexpr (kIsId<ValueOf<Column>>) TranslateColumn(ids, remap);
    });
  }
}

void Table::Extend(size_t index, size_t count, const void* values) {
  VisitColumn(info(), index, column(index), [&]<typename Column>(Column& to) {
    MakeRoom(to, count);
    const auto* from = static_cast<const char*>(values);
    for (size_t i = 0; i < count; ++i) {
      ValueOf<Column> value{};
      std::memcpy(&value, from + i * sizeof value, sizeof value);
      to.push_back(value);
    }
  });
}

void Table::Reserve(size_t wanted_rows) {
  for (size_t i = 0; i < info().columns.size(); ++i)
    VisitColumn(info(), i, column(i), [&](auto& to) { to.reserve(wanted_rows); });
}

void Table::Gather(std::span<const uint32_t> from) {
  for (size_t i = 0; i < info().columns.size(); ++i)
    VisitColumn(info(), i, column(i), [&](auto& rows) { GatherColumn(rows, from); });
}

namespace {

// AllTables().size() when there is none of that name.
TableId FindId(std::string_view name) {
  auto all = AllTables();
  auto found = std::find_if(all.begin(), all.end(),
                            [&](const TableInfo* table) { return table->name == name; });
  return static_cast<TableId>(found - all.begin());
}

}  // namespace

const TableInfo* FindTable(std::string_view name) {
  const TableId id = FindId(name);
  return id < AllTables().size() ? AllTables()[id] : nullptr;
}

const Table* TableSet::Find(std::string_view name) const {
  const TableId id = FindId(name);
  return id < tables_.size() ? Find(id) : nullptr;
}

const Table* TableSet::FindFilled(std::string_view name) const {
  const Table* table = Find(name);
  return table != nullptr && table->size() > 0 ? table : nullptr;
}

void TableSet::Append(TableSet&& part, const Remap& remap) {
  for (TableId id = 0; id < part.tables_.size(); ++id) {
    if (part.tables_[id] == nullptr) continue;
    if (tables_[id] == nullptr) {
      tables_[id] = std::move(part.tables_[id]);
      tables_[id]->Translate(remap);
    } else {
      tables_[id]->Append(*part.tables_[id], remap);
    }
  }
}

}  // namespace debrief
