#include "model/declared_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/check.h"

namespace debrief {

namespace {

void Mark(std::span<const std::string_view> names, std::vector<bool>& marks) {
  auto all = AllTables();
  for (TableId id = 0; id < all.size(); ++id) {
    if (std::find(names.begin(), names.end(), all[id]->name) != names.end()) marks[id] = true;
  }
}

}  // namespace

TableDeclaration& TableDeclaration::MayRead(std::span<const std::string_view> tables) {
  Mark(tables, read_);
  return *this;
}

TableDeclaration& TableDeclaration::MayMake(std::span<const std::string_view> tables) {
  Mark(tables, read_);
  Mark(tables, made_);
  return *this;
}

#ifdef DEBRIEF_CHECK_TABLES
namespace {

void Refuse(const TableDeclaration& declaration, std::string_view verb, TableId id) {
  std::string declared = fmt::format("analysis {} declares that it {} table {}: this",
                                     declaration.who(), verb, AllTables()[id]->name);
  CheckFailed(declared.c_str(), __FILE__, __LINE__);
}

const TableDeclaration* Declared() { return static_cast<const TableDeclaration*>(WorkContext()); }

}  // namespace

void CheckRead(TableId id) {
  const TableDeclaration* declared = Declared();
  if (declared != nullptr && !declared->MayRead(id)) Refuse(*declared, "reads", id);
}

void CheckMade(TableId id) {
  const TableDeclaration* declared = Declared();
  if (declared != nullptr && !declared->MayMake(id)) Refuse(*declared, "makes", id);
}
#endif

}  // namespace debrief
