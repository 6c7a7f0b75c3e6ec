#include "model/table.h"

namespace debrief {

std::string_view SqlTypeName(ColumnType type) {
  switch (type) {
    case ColumnType::kInt32:
      return "INTEGER";
    case ColumnType::kInt64:
      return "BIGINT";
    case ColumnType::kDouble:
      return "DOUBLE";
    case ColumnType::kBool:
      return "BOOLEAN";
    case ColumnType::kString:
      return "VARCHAR";
    case ColumnType::kList:
      return "BIGINT[]";
    case ColumnType::kStack:
      return "VARCHAR[]";
  }
  return "VARCHAR";
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
