// What sheets name must exist: a column that a table lost would vanish from its sheet without a
// word.
#include <gtest/gtest.h>

#include <algorithm>

#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {
namespace profile_sheets_test {

bool HasColumn(const TableInfo& table, std::string_view name) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [&](const ColumnInfo& column) { return column.name == name; });
}

TEST(ProfileSheets, NameTablesAndColumnsThatExist) {
  for (const Sheet& sheet : AllSheets()) {
    const TableInfo* table = FindTable(sheet.table);
    ASSERT_NE(table, nullptr) << sheet.table;
    for (const SheetColumn& column : ColumnsOf(sheet)) {
      EXPECT_TRUE(HasColumn(*table, column.name)) << sheet.table << "." << column.name;
      if (!column.share_of.empty()) {
        EXPECT_TRUE(HasColumn(*table, column.share_of)) << sheet.table << "." << column.share_of;
      }
    }
    const size_t second = sheet.sort_by.find(' ');  // decides where the first is equal
    for (std::string_view name :
         {sheet.sort_by.substr(0, second),
          second == std::string_view::npos ? std::string_view() : sheet.sort_by.substr(second + 1),
          sheet.only.substr(0, sheet.only.find('='))}) {
      if (!name.empty()) {
        EXPECT_TRUE(HasColumn(*table, name)) << sheet.table << "." << name;
      }
    }
    if (!sheet.figures_of.empty()) {
      EXPECT_NE(FindTable(sheet.figures_of), nullptr) << sheet.figures_of;
    }
  }
}

TEST(ProfileSheets, EveryColumnHasALabel) {
  for (const TableInfo* table : AllTables()) {
    for (const ColumnInfo& column : table->columns)
      EXPECT_FALSE(column.label.empty()) << table->name << "." << column.name;
  }
}

}  // namespace profile_sheets_test
}  // namespace debrief::outputs::profile_sheets
