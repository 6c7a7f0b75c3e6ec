// The tables behind the summary as JSON.
#include "base/json/writer.h"
#include "outputs/table_cell.h"
#include "outputs/terminal/compile_summary/answers.h"
#include "outputs/terminal/compile_summary/one_compilation.h"

namespace debrief::outputs::compile_summary {

namespace {

constexpr std::string_view kTables[] = {
    "compilation",         "compile_autotune",    "compile_blocker",
    "compile_break",       "compile_cache_total", "compile_cache_use",
    "compile_detail",      "compile_failure",     "compile_first_difference",
    "compile_frame_group", "compile_graph",       "compile_graph_change",
    "compile_kernel",      "compile_life",        "compile_log",
    "compile_module",      "compile_orphan",      "compile_overlap",
    "compile_phase_total", "compile_piece",       "compile_progress",
    "compile_rank_only",   "compile_rank_time",   "compile_recompile",
    "compile_restart",     "compile_shape",       "compile_span",
    "compile_weight",      "triton_use"};

// Whether the row belongs to the compilation that was asked for; rows of tables without compile ids
// do not.
bool IsWanted(const Model& model, const Table& table, size_t row, const OneCompilation& only) {
  if (only.is_all()) return true;
  auto text = [&](std::string_view name) -> std::optional<std::string_view> {
    const std::optional<size_t> column = FindColumn(table.info(), name);
    if (!column) return std::nullopt;
    return model.pools.Text(ValueAt<StringId>(table, *column, row));
  };
  if (auto id = text("compile_id")) return only.Is(*id);
  auto ids = text("compile_ids");
  return ids && only.IsIn(*ids);
}

}  // namespace

std::string SummaryJson(const Model& model, const SummaryOptions& options) {
  std::string text;
  JsonWriter json(&text, 1);
  json.BeginObject().Field("schema", 1);
  std::vector<Finding> findings = model.findings;
  const OneCompilation only(options.compile_id);
  std::erase_if(findings, [&](const Finding& one) {
    return !one.rule.starts_with("compile") || !only.IsAbout(one);
  });
  json.Objects("findings", findings, [&](const Finding& finding) {
    json.Field("rule", finding.rule).Field("severity", SeverityName(finding.severity));
    json.Field("headline", finding.headline).Field("next_step", finding.next_step);
    json.ListField("ranks", finding.ranks);
  });
  for (std::string_view name : kTables) {
    json.Key(name).BeginArray();
    if (const Table* table = model.tables.Find(name)) {
      for (size_t row = 0; row < table->size(); ++row) {
        if (IsWanted(model, *table, row, only)) WriteRow(model, *table, row, json);
      }
    }
    json.EndArray();
  }
  json.EndObject();
  return text + "\n";
}

}  // namespace debrief::outputs::compile_summary
