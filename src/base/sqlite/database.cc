#include "base/sqlite/database.h"

#include <algorithm>
#include <utility>

namespace debrief {

namespace {

// Where the columns lie in a row; none of those that the table lacks.
std::vector<size_t> PlacesOf(const SqliteTableSchema* table,
                             std::span<const std::string_view> columns) {
  std::vector<size_t> places;
  for (std::string_view column : columns) {
    size_t place = RowValues::kNoColumn;
    if (table != nullptr) {
      const auto found = table->columns.find(column);
      if (found != table->columns.end()) place = found->second;
    }
    places.push_back(place);
  }
  return places;
}

size_t NumberColumnOf(const SqliteTableSchema* table, std::span<const std::string_view> columns) {
  if (table == nullptr || table->number_column.empty()) return RowValues::kNoColumn;
  const auto found = std::ranges::find(columns, std::string_view(table->number_column));
  return found == columns.end() ? RowValues::kNoColumn
                                : static_cast<size_t>(found - columns.begin());
}

// What of the row is needed is read from behind its page, where it is not all in there.
bool ParseRow(const TableCell& cell, TablePages& pages, std::string& long_row, RowValues& values) {
  if (values.Parse(cell.local, cell.bytes)) return true;
  // First all of its head, then all of its values.
  for (uint64_t needed = 0; cell.overflow != 0 && values.needed() > needed;) {
    needed = values.needed();
    pages.ReadRow(cell, needed, long_row);
    if (long_row.size() < needed) return false;
    if (values.Parse(long_row, cell.bytes)) return true;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::Open(const Source& source) {
  ASSIGN_OR_RETURN(SqliteSchema schema, ReadSqliteSchema(source));
  return std::unique_ptr<SqliteDatabase>(
      new SqliteDatabase(source, std::make_shared<const SqliteSchema>(std::move(schema))));
}

const SqliteTableSchema* SqliteDatabase::Find(std::string_view table) const {
  const auto found = schema_->tables.find(table);
  return found == schema_->tables.end() ? nullptr : &found->second;
}

bool SqliteDatabase::HasColumn(std::string_view table, std::string_view column) const {
  const SqliteTableSchema* found = Find(table);
  return found != nullptr && found->columns.contains(column);
}

std::vector<std::string_view> SqliteDatabase::Tables() const {
  std::vector<std::string_view> names;
  for (const auto& [name, table] : schema_->tables) names.push_back(name);
  return names;
}

TableLeaves SqliteDatabase::LeavesOf(std::string_view table) {
  const SqliteTableSchema* found = Find(table);
  return found == nullptr ? TableLeaves() : pages_.LeavesOf(found->root);
}

size_t SqliteDatabase::CountRows(std::span<const uint32_t> leaves) {
  constexpr size_t kSamples = 32;
  size_t rows = 0, looked_at = 0;
  TablePage page;
  for (size_t i = 0; i < leaves.size(); i += leaves.size() / kSamples + 1) {
    if (!pages_.Load(leaves[i], page)) continue;
    rows += page.cells();
    ++looked_at;
  }
  return looked_at == 0 ? 0 : rows * leaves.size() / looked_at;
}

SqliteScan::SqliteScan(SqliteDatabase& database, std::string_view table,
                       std::span<const std::string_view> columns)
    : SqliteScan(database, table, columns, {}) {
  leaves_ = database.LeavesOf(table);
}

SqliteScan::SqliteScan(SqliteDatabase& database, std::string_view table,
                       std::span<const std::string_view> columns, std::span<const uint32_t> leaves)
    : database_(database),
      leaves_({.pages = {leaves.begin(), leaves.end()}}),
      values_(PlacesOf(database.Find(table), columns), database.schema_->format.encoding),
      number_column_(NumberColumnOf(database.Find(table), columns)) {}

bool SqliteScan::Next() {
  for (;;) {
    while (next_cell_ < page_.cells()) {
      if (ReadRow(next_cell_++)) return true;
      leaves_.is_damaged = true;
    }
    if (next_leaf_ == leaves_.pages.size()) return false;
    next_cell_ = 0;
    const bool is_leaf =
        database_.pages_.Load(leaves_.pages[next_leaf_++], page_) && page_.is_leaf();
    if (is_leaf) continue;
    page_ = TablePage();
    leaves_.is_damaged = true;
  }
}

bool SqliteScan::ReadRow(size_t cell) {
  return page_.ReadCell(cell, cell_) && ParseRow(cell_, database_.pages_, long_row_, values_);
}

int64_t SqliteScan::Int(size_t column, int64_t if_null) const {
  if (!values_.IsNull(column)) return values_.Int(column);
  return column == number_column_ ? cell_.number : if_null;
}

SqliteTexts::SqliteTexts(SqliteDatabase& database, std::string_view table,
                         std::string_view text_column)
    : database_(database),
      values_(PlacesOf(database.Find(table), std::span(&text_column, 1)),
              database.schema_->format.encoding) {
  if (database.HasColumn(table, text_column)) root_ = database.Find(table)->root;
}

std::string_view SqliteTexts::Find(int64_t rowid) {
  if (!FindLeaf(rowid)) return {};
  TableCell cell;
  size_t first = 0, last = page_.cells();
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    if (!page_.ReadCell(middle, cell)) return {};
    if (cell.number == rowid) {
      const bool is_read = ParseRow(cell, database_.pages_, long_row_, values_);
      return is_read ? values_.Text(0) : std::string_view();
    }
    (cell.number < rowid ? first : last) = cell.number < rowid ? middle + 1 : middle;
  }
  return {};
}

bool SqliteTexts::FindLeaf(int64_t rowid) {
  constexpr int kMostLevels = 24;
  uint32_t page = root_;
  for (int level = 0; level < kMostLevels && database_.pages_.Load(page, page_); ++level) {
    if (page_.is_leaf()) return true;
    size_t first = 0, last = page_.cells();
    while (first < last) {
      const size_t middle = first + (last - first) / 2;
      (page_.LargestOf(middle) < rowid ? first : last) =
          page_.LargestOf(middle) < rowid ? middle + 1 : middle;
    }
    page = page_.Child(first);
  }
  return false;
}

}  // namespace debrief
