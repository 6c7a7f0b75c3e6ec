// Sheets for programs: all columns of the tables, exact.
//
// CSV as RFC 4180 has it. A subcommand with several tables puts a line without commas
// ("# profile_gap") and a new head before each further one. JSON:
//
// {"schema": 1, "subcommand": "breakdown", "definition": "debrief",
//  "sheets": [{"table": "profile_breakdown", "title": "...", "columns": {"idle_ns": "what it
//  means"},
//              "rows": [{...}]}],
//  "not_computable": [{"table": "...", "reason": "..."}]}
#include <fmt/format.h>

#include "base/json/writer.h"
#include "base/text/escape.h"
#include "outputs/table_cell.h"
#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

namespace {

std::string Quoted(const std::string& text) {
  std::string out = fmt::format("\"{}", CsvGuard(text));
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string CsvText(const Cell& cell) {
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
      line += CsvText(ReadCell(model.pools, table, column, row));
    }
    out.Write(line + "\n");
  }
}

void WriteSheet(const Model& model, const Table& table, const Sheet& sheet,
                const SheetOptions& options, JsonWriter& json) {
  json.Field("table", sheet.table).Field("title", sheet.title).Key("columns").BeginObject();
  for (const ColumnInfo& column : table.info().columns) json.Field(column.name, column.doc);
  json.EndObject().Array("rows", SelectRows(model, table, sheet, options).rows,
                         [&](size_t row) { WriteRow(model, table, row, json); });
}

}  // namespace

void WriteCsv(const Model& model, std::string_view subcommand, const SheetOptions& options,
              TextSink& out) {
  bool is_first = true;
  for (const Sheet& sheet : SheetsOf(subcommand, options)) {
    const Table* table = model.tables.FindFilled(sheet.table);
    if (table == nullptr) continue;
    if (!is_first) out.Write(fmt::format("\n# {}\n", sheet.table));
    is_first = false;
    WriteTable(model, *table, SelectRows(model, *table, sheet, options).rows, out);
  }
}

void WriteJson(const Model& model, std::string_view subcommand, const SheetOptions& options,
               TextSink& out) {
  std::vector<Sheet> shown, missing;
  for (const Sheet& sheet : SheetsOf(subcommand, options)) {
    const bool is_filled = model.tables.FindFilled(sheet.table) != nullptr;
    if (is_filled || sheet.presence == Presence::kNeeded)
      (is_filled ? shown : missing).push_back(sheet);
  }
  std::string text;
  JsonWriter json(&text, 1);
  json.BeginObject().Field("schema", 1).Field("subcommand", subcommand);
  json.Field("definition", options.definition);
  json.Objects("sheets", shown, [&](const Sheet& sheet) {
    WriteSheet(model, *model.tables.FindFilled(sheet.table), sheet, options, json);
  });
  json.Objects("not_computable", missing, [&](const Sheet& sheet) {
    json.Field("table", sheet.table).Field("reason", WhyEmpty(model, sheet.table));
  });
  json.EndObject();
  out.Write(text + "\n");
}

}  // namespace debrief::outputs::profile_sheets
