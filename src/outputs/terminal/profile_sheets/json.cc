// {"schema": 1, "subcommand": "breakdown", "definition": "debrief",
//  "sheets": [{"table": "profile_breakdown", "title": "...", "columns": {"idle_ns": "what it
//  means"},
//              "rows": [{...}]}],
//  "not_computable": [{"table": "...", "reason": "..."}]}
#include "base/json/writer.h"
#include "outputs/table_cell.h"
#include "outputs/terminal/profile_sheets/reasons.h"
#include "outputs/terminal/profile_sheets/rows.h"
#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief::outputs::profile_sheets {

namespace {

void WriteSheet(const Model& model, const Table& table, const Sheet& sheet,
                const SheetOptions& options, JsonWriter& json) {
  SelectedRows selected = SelectRows(model, table, sheet, options);
  json.BeginObject();
  json.Field("table", sheet.table);
  json.Field("title", sheet.title);
  json.Key("columns").BeginObject();
  for (const ColumnInfo& column : table.info().columns) json.Field(column.name, column.doc);
  json.EndObject();
  json.Key("rows").BeginArray();
  for (size_t row : selected.rows) WriteRow(model, table, row, json);
  json.EndArray();
  json.EndObject();
}

}  // namespace

void WriteJson(const Model& model, std::string_view subcommand, const SheetOptions& options,
               TextSink& out) {
  std::string text;
  JsonWriter json(&text, 1);
  json.BeginObject();
  json.Field("schema", int64_t{1});
  json.Field("subcommand", subcommand);
  json.Field("definition", options.definition);
  json.Key("sheets").BeginArray();
  for (const Sheet& sheet : AllSheets()) {
    if (!IsAskedFor(sheet, subcommand, options)) continue;
    const Table* table = model.tables.FindFilled(sheet.table);
    if (table != nullptr) WriteSheet(model, *table, sheet, options, json);
  }
  json.EndArray();
  json.Key("not_computable").BeginArray();
  for (const Sheet& sheet : AllSheets()) {
    if (!IsAskedFor(sheet, subcommand, options) || sheet.optional) continue;
    if (model.tables.FindFilled(sheet.table) != nullptr) continue;
    json.BeginObject();
    json.Field("table", sheet.table);
    json.Field("reason", WhyEmpty(model, sheet.table));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  out.Write(text + "\n");
}

}  // namespace debrief::outputs::profile_sheets
