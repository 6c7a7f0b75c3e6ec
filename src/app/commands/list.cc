// debrief list: what this build can do, from the plug-ins' own descriptions.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/analysis.h"
#include "app/commands/commands.h"
#include "app/terminal.h"
#include "base/json/writer.h"
#include "inputs/importer.h"
#include "outputs/output.h"
#include "outputs/store/store.h"

namespace debrief {

namespace {

struct Entry {
  std::string_view name;
  std::string_view sentence;
  std::string detail;
  const TableInfo* table = nullptr;  // of a table: its columns
  std::string_view scope = {};       // of an analysis: "rank" or "job"
};

std::string Join(std::span<const std::string_view> names) {
  std::string text;
  for (std::string_view name : names) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  return text;
}

std::vector<Entry> Inputs() {
  std::vector<Entry> entries;
  for (const Importer* importer : AllImporters()) {
    bool reads = importer->open != nullptr;
    entries.push_back({importer->info.name, importer->info.sentence,
                       fmt::format("for example {}; {}", importer->info.example,
                                   reads ? "fills " + Join(importer->info.makes)
                                         : "recognised, not read by this version")});
  }
  return entries;
}

std::vector<Entry> Analyses() {
  std::vector<Entry> entries;
  for (const Analysis* analysis : AllAnalyses()) {
    const bool is_of_rank = analysis->info.scope == AnalysisScope::kRank;
    entries.push_back({analysis->info.name, analysis->info.sentence,
                       fmt::format("looks at {}; needs {}; for example: {}",
                                   is_of_rank ? "one rank" : "the whole job",
                                   Join(analysis->info.needs), analysis->info.example)});
    entries.back().scope = is_of_rank ? "rank" : "job";
  }
  return entries;
}

std::vector<Entry> Outputs() {
  std::vector<Entry> entries;
  for (const Output* output : AllOutputs()) {
    entries.push_back(
        {output->info.name, output->info.sentence,
         output->info.file.empty()
             ? "printed"
             : fmt::format("writes {}{}", output->info.file,
                           output->info.on_request
                               ? fmt::format(" when asked to (--with {})", output->info.name)
                               : "")});
  }
  return entries;
}

std::vector<Entry> Tables() {
  std::vector<Entry> entries;
  for (const TableInfo* table : AllTables()) {
    std::string columns;
    for (const ColumnInfo& column : table->columns)
      columns += fmt::format("{}{}", columns.empty() ? "" : ", ", column.name);
    entries.push_back({table->name, table->doc, columns, table});
  }
  return entries;
}

// What a program needs to read the table: docs/tables.md for machines.
void WriteSchema(JsonWriter& json, const TableInfo& table) {
  json.Field("schema", outputs::store::kStoreSchema).Field("owner", table.owner);
  json.Field("family", table.family).Field("derived", table.is_derived);
  json.Objects("columns", table.columns, [&](const ColumnInfo& column) {
    json.Field("name", column.name).Field("type", SqlTypeName(column.type));
    json.Field("label", column.label).Field("unit", UnitName(column.unit));
    json.Field("doc", column.doc);
  });
}

std::string ToJson(const std::vector<Entry>& entries) {
  std::string out;
  JsonWriter json(&out, 1);
  json.BeginArray();
  for (const Entry& entry : entries) {
    json.BeginObject().Field("name", entry.name).Field("sentence", entry.sentence);
    json.Field("detail", entry.detail);
    if (!entry.scope.empty()) json.Field("scope", entry.scope);
    if (entry.table != nullptr) WriteSchema(json, *entry.table);
    json.EndObject();
  }
  json.EndArray();
  return out + "\n";
}

std::string ToText(const std::vector<Entry>& entries) {
  size_t width = 0;
  for (const Entry& entry : entries) width = std::max(width, entry.name.size());
  std::string out;
  for (const Entry& entry : entries) {
    out += fmt::format("{:{}}  {}\n{:{}}  {}\n", entry.name, width, entry.sentence, "", width,
                       entry.detail);
  }
  return out;
}

}  // namespace

int RunList(const ListOptions& options, const GlobalOptions& global) {
  const bool of_paths = options.what == "jobs";
  if (of_paths == options.paths.empty()) {
    PrintError(
        Status(Code::kUsage, of_paths ? "a path is needed" : "only jobs are listed of a path")
            .Remedy("Name one: debrief list jobs PATH"));
    return 2;
  }
  if (of_paths) return RunListJobs(options.paths, global);
  std::vector<Entry> entries = options.what == "inputs"     ? Inputs()
                               : options.what == "analyses" ? Analyses()
                               : options.what == "outputs"  ? Outputs()
                                                            : Tables();
  StdoutSink().Write(global.json ? ToJson(entries) : ToText(entries));
  return 0;
}

}  // namespace debrief
