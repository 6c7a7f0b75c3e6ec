// Writes tables by their columns, not by their C++ types: an analysis that adds a column needs no
// change here. `total` counts all rows that the share is of; the page tells the reader when it has
// fewer. Rows are taken in the order of the table, or, where a column tells what matters (seconds,
// failures of a guard), largest first. A row is written apart and then taken or not, so that one
// text of 100 MB costs its row and not the page. Cost: one pass over the rows taken; of the tables
// that are ordered one sort of their row numbers.
#include "outputs/report/html/table_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "base/json/writer.h"
#include "outputs/table_cell.h"
#include "outputs/table_json.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kLargestRow = 40'000;  // bytes of JSON
constexpr size_t kMostRefused = 100;    // larger ones of a table that are passed over

double NumberAt(const Table& table, size_t column, size_t row) {
  switch (table.info().columns[column].type) {
    case ColumnType::kInt32:
      return ValueAt<int32_t>(table, column, row);
    case ColumnType::kInt64:
      return static_cast<double>(ValueAt<int64_t>(table, column, row));
    case ColumnType::kDouble: {
      const double value = ValueAt<double>(table, column, row);
      return std::isnan(value) ? -1 : value;  // nulls of integers are the smallest as they are
    }
    default:
      return 0;
  }
}

std::optional<size_t> FindColumn(const Table& table, std::string_view name) {
  const std::span<const ColumnInfo> columns = table.info().columns;
  const auto at = std::find_if(columns.begin(), columns.end(),
                               [&](const ColumnInfo& one) { return one.name == name; });
  if (at == columns.end()) return std::nullopt;
  return static_cast<size_t>(at - columns.begin());
}

void KeepDefinition(const Model& model, const Table& table, std::string_view definition,
                    std::vector<size_t>& rows) {
  const std::optional<size_t> column = FindColumn(table, "definition");
  if (definition.empty() || !column) return;
  std::erase_if(rows, [&](size_t row) {
    return ReadCell(model.pools, table, *column, row).text != definition;
  });
}

// Numbers of the rows that a share is of, in the order in which they are taken.
std::vector<size_t> OrderOf(const Model& model, const Table& table, const Share& share) {
  std::vector<size_t> order(table.size());
  std::iota(order.begin(), order.end(), size_t{0});
  KeepDefinition(model, table, share.definition, order);
  const std::optional<size_t> column = FindColumn(table, share.largest);
  if (!column) return order;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const double first = NumberAt(table, *column, a);
    const double second = NumberAt(table, *column, b);
    return first != second ? first > second : a < b;
  });
  return order;
}

void WriteTable(const Model& model, const Table& table, const Share& share, JsonWriter& json) {
  const std::vector<size_t> order = OrderOf(model, table, share);
  json.Key(share.table).BeginObject().Field("total", order.size()).Key("rows").BeginArray();
  size_t taken = 0;
  size_t refused = 0;
  size_t bytes = 0;
  std::string text;
  for (size_t row : order) {
    if (taken == share.rows) break;
    text.clear();
    JsonWriter one(&text);
    WriteRow(model, table, row, one);
    if (text.size() > kLargestRow && ++refused <= kMostRefused) continue;
    bytes += text.size() + 1;
    if (bytes > share.bytes) break;
    json.Raw(text);
    ++taken;
  }
  json.EndArray().EndObject();
}

void WriteMeanings(const Model& model, std::span<const Share> shares, JsonWriter& json) {
  json.Key("meanings").BeginObject();
  for (const Share& share : shares) {
    const Table* table = model.tables.Find(share.table);
    if (table == nullptr || table->size() == 0) continue;
    json.Key(share.table).BeginObject();
    for (const ColumnInfo& column : table->info().columns) json.Field(column.name, column.doc);
    json.EndObject();
  }
  json.EndObject();
}

}  // namespace

std::string TablesJson(const Model& model, std::span<const Share> shares, Meanings meanings) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Key("tables").BeginObject();
  bool any = false;
  for (const Share& share : shares) {
    const Table* table = model.tables.Find(share.table);
    if (table == nullptr || table->size() == 0) continue;
    WriteTable(model, *table, share, json);
    any = true;
  }
  json.EndObject();
  if (meanings == Meanings::kTold) WriteMeanings(model, shares, json);
  json.EndObject();
  return any ? out : "";
}

}  // namespace debrief::outputs::html
