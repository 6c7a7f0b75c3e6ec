// The tables behind the summary as JSON.
#include "base/json/writer.h"
#include "outputs/table_cell.h"
#include "outputs/terminal/compile_summary/answers.h"

namespace debrief::outputs::compile_summary {

namespace {

constexpr std::string_view kTables[] = {"compilation",          "compile_autotune",
                                        "compile_blocker",      "compile_break",
                                        "compile_cache_total",  "compile_cache_use",
                                        "compile_failure",      "compile_first_difference",
                                        "compile_frame_group",  "compile_graph",
                                        "compile_graph_change", "compile_kernel",
                                        "compile_life",         "compile_log",
                                        "compile_module",       "compile_orphan",
                                        "compile_overlap",      "compile_phase_total",
                                        "compile_progress",     "compile_rank_only",
                                        "compile_rank_time",    "compile_recompile",
                                        "compile_restart",      "compile_shape",
                                        "compile_span",         "compile_weight"};

// Whether the row belongs to the compilation that was asked for; rows of tables without compile ids
// do not.
class RowFilter {
 public:
  RowFilter(const Model& model, const Table& table, std::string_view wanted)
      : model_(model), table_(table), wanted_(wanted) {
    const auto& columns = table.info().columns;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].name == "compile_id") column_ = static_cast<int>(i);
    }
  }

  bool operator()(size_t row) const {
    if (wanted_.empty()) return true;
    if (column_ < 0) return false;
    StringId name;
    table_.Copy(static_cast<size_t>(column_), row, 1, &name);
    std::string_view id = model_.pools.Text(name);
    return id.substr(0, id.find('_')) == wanted_;
  }

 private:
  const Model& model_;
  const Table& table_;
  std::string_view wanted_;
  int column_ = -1;
};

void WriteFindings(const Model& model, JsonWriter& json) {
  json.Key("findings").BeginArray();
  for (const Finding& finding : model.findings) {
    if (!finding.rule.starts_with("compile")) continue;
    json.BeginObject()
        .Field("rule", finding.rule)
        .Field("severity", SeverityName(finding.severity))
        .Field("headline", finding.headline)
        .Field("next_step", finding.next_step)
        .ListField("ranks", finding.ranks)
        .EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string SummaryJson(const Model& model, const SummaryOptions& options) {
  std::string text;
  JsonWriter json(&text, 1);
  json.BeginObject().Field("schema", 1);
  WriteFindings(model, json);
  for (std::string_view name : kTables) {
    json.Key(name).BeginArray();
    if (const Table* table = model.tables.Find(name)) {
      RowFilter filter(model, *table, options.compile_id);
      for (size_t row = 0; row < table->size(); ++row) {
        if (filter(row)) WriteRow(model, *table, row, json);
      }
    }
    json.EndArray();
  }
  json.EndObject();
  return text + "\n";
}

}  // namespace debrief::outputs::compile_summary
