// The rows of a table that a sheet shows, in its order.
#include <algorithm>

#include "outputs/table_cell.h"
#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

namespace {

constexpr std::string_view kOwnDefinition = "debrief";

bool HasText(const Model& model, const Table& table, size_t column, size_t row,
             std::string_view text) {
  return ReadCell(model.pools, table, column, row).text == text;
}

std::vector<size_t> RowsWith(const Model& model, const Table& table, std::string_view column,
                             std::string_view text) {
  auto found = FindColumn(table.info(), column);
  std::vector<size_t> rows;
  for (size_t row = 0; row < table.size(); ++row) {
    if (!found || HasText(model, table, *found, row, text)) rows.push_back(row);
  }
  return rows;
}

void KeepRanks(const Model& model, const Table& table, const std::vector<int>& ranks,
               std::vector<size_t>& rows) {
  auto column = FindColumn(table.info(), "rank");
  if (ranks.empty() || !column) return;
  std::erase_if(rows, [&](size_t row) {
    Cell cell = ReadCell(model.pools, table, *column, row);
    return cell.kind != Cell::kInteger ||
           std::find(ranks.begin(), ranks.end(), cell.integer) == ranks.end();
  });
}

void SortRows(const Model& model, const Table& table, const Sheet& sheet,
              std::vector<size_t>& rows) {
  Sheet by = sheet;
  by.columns = sheet.sort_by;
  std::vector<SheetColumn> columns = ColumnsOf(by);
  std::reverse(columns.begin(), columns.end());  // stable: the first comes last
  for (const SheetColumn& each : columns) {
    auto column = FindColumn(table.info(), each.name);
    if (!column) continue;
    std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
      return SortKey(ReadCell(model.pools, table, *column, a)) >
             SortKey(ReadCell(model.pools, table, *column, b));
    });
  }
}

}  // namespace

SelectedRows SelectRows(const Model& model, const Table& table, const Sheet& sheet,
                        const SheetOptions& options) {
  SelectedRows selected;
  selected.rows = RowsWith(model, table, "definition", options.definition);
  if (selected.rows.empty() && options.definition != kOwnDefinition) {
    selected.rows = RowsWith(model, table, "definition", kOwnDefinition);
    selected.other_definition = true;
  }
  if (!FindColumn(table.info(), "definition"))
    selected.other_definition = options.definition != kOwnDefinition;
  const size_t equals = sheet.only.find('=');
  if (auto only = FindColumn(table.info(), sheet.only.substr(0, equals))) {
    std::erase_if(selected.rows, [&](size_t row) {
      return !HasText(model, table, *only, row, sheet.only.substr(equals + 1));
    });
  }
  KeepRanks(model, table, options.ranks, selected.rows);
  SortRows(model, table, sheet, selected.rows);
  return selected;
}

std::string WhyEmpty(const Model& model, std::string_view table) {
  for (const AnalysisOutcome& outcome : model.analyses) {
    if (std::find(outcome.makes.begin(), outcome.makes.end(), table) == outcome.makes.end())
      continue;
    if (outcome.state != AnalysisOutcome::State::kRan) return outcome.reason;
  }
  return "nothing of this kind is in the inputs";
}

}  // namespace debrief::outputs::profile_sheets
