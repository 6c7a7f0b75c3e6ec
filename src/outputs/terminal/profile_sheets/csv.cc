// CSV as RFC 4180 has it: all columns of the table, exact. A subcommand with several tables puts a
// line without commas ("# profile_gap") and a new head before each further one.
#include <fmt/format.h>

#include "outputs/table_cell.h"
#include "outputs/terminal/profile_sheets/rows.h"
#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

namespace {

// A text that a spreadsheet would take for a formula gets a quote in front.
std::string Quoted(const std::string& text) {
  std::string out = "\"";
  if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos)
    out += '\'';
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string CellText(const Cell& cell) {
  switch (cell.kind) {
    case Cell::kInteger:
    case Cell::kFlag:
      return fmt::format("{}", cell.integer);
    case Cell::kReal:
      return fmt::format("{}", cell.real);
    case Cell::kText:
      return Quoted(cell.text);
    case Cell::kNull:
      break;
  }
  return "";
}

void WriteTable(const Model& model, const Table& table, const std::vector<size_t>& rows,
                TextSink& out) {
  auto columns = table.info().columns;
  std::string line;
  for (const ColumnInfo& column : columns)
    line += fmt::format("{}{}", line.empty() ? "" : ",", column.name);
  out.Write(line + "\n");
  for (size_t row : rows) {
    line.clear();
    for (size_t column = 0; column < columns.size(); ++column) {
      if (column > 0) line += ',';
      line += CellText(ReadCell(model.pools, table, column, row));
    }
    out.Write(line + "\n");
  }
}

}  // namespace

void WriteCsv(const Model& model, std::string_view subcommand, const SheetOptions& options,
              TextSink& out) {
  bool is_first = true;
  for (const Sheet& sheet : AllSheets()) {
    if (!IsAskedFor(sheet, subcommand, options)) continue;
    const Table* table = model.tables.FindFilled(sheet.table);
    if (table == nullptr) continue;
    if (!is_first) out.Write(fmt::format("\n# {}\n", sheet.table));
    is_first = false;
    WriteTable(model, *table, SelectRows(model, *table, sheet, options).rows, out);
  }
}

}  // namespace debrief::outputs::profile_sheets
