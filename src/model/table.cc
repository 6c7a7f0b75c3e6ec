#include "model/table.h"

#include <algorithm>

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
