#include "outputs/run_json.h"

#include <map>
#include <optional>
#include <ranges>
#include <set>

#include "base/bytes/md5.h"
#include "base/json/writer.h"
#include "base/version.h"
#include "tables/input.h"
#include "tables/job.h"
#include "tables/rank.h"

namespace debrief {

namespace {

auto RowsOf(const Table& table) { return std::views::iota(size_t{0}, table.size()); }

void WriteJobs(JsonWriter& json, const Model& model) {
  const auto& jobs = model.tables.Get<JobTable>();
  const auto& ranks = model.tables.Get<RankTable>();
  std::map<int32_t, std::set<int32_t>> seen;  // by job
  for (size_t i = 0; i < ranks.size(); ++i) seen[ranks.job[i]].insert(ranks.rank[i]);
  json.Objects("jobs", RowsOf(jobs), [&](size_t i) {
    json.Field("job", jobs.job[i]).Field("name", model.pools.Text(jobs.name[i]));
    json.Field("world_size", jobs.world_size[i]).Field("attempts", jobs.attempts[i]);
    json.Field("inputs", jobs.inputs[i]).ListField("ranks", seen[jobs.job[i]]);
  });
}

// Calls `field` with the name and value of each field of an input, in order.
template <typename Field>
void ForEachInputField(const Model& model, size_t row, Field field) {
  const auto& inputs = model.tables.Get<InputTable>();
  field("input", inputs.input[row]);
  field("path", model.pools.Text(inputs.path[row]));
  field("kind", model.pools.Text(inputs.kind[row]));
  field("state", model.pools.Text(inputs.state[row]));
  field("job", inputs.job[row]);
  field("attempt", inputs.attempt[row]);
  field("rank", inputs.rank[row]);
  field("bytes", inputs.bytes[row]);
  field("content_bytes", inputs.content_bytes[row]);
  field("rows", inputs.rows[row]);
  field("start_ns", inputs.start_ns[row]);
}

void WriteInputs(JsonWriter& json, const Model& model) {
  json.Objects("inputs", RowsOf(model.tables.Get<InputTable>()), [&](size_t row) {
    ForEachInputField(model, row,
                      [&](std::string_view name, auto value) { json.Field(name, value); });
  });
}

// {"columns": ["input", ...], "rows": [[0, ...], ...]}
void WriteInputColumns(JsonWriter& json, const Model& model) {
  const auto& inputs = model.tables.Get<InputTable>();
  json.Key("inputs").BeginObject().Key("columns").BeginArray();
  if (inputs.size() > 0)
    ForEachInputField(model, 0, [&](std::string_view name, auto) { json.Value(name); });
  json.EndArray();
  json.Array("rows", RowsOf(inputs), [&](size_t row) {
    json.BeginArray();
    ForEachInputField(model, row, [&](std::string_view, auto value) { json.Value(value); });
    json.EndArray();
  });
  json.EndObject();
}

void WriteDiagnostics(JsonWriter& json, const Model& model) {
  const auto& paths = model.tables.Get<InputTable>().path;
  json.Objects("diagnostics", model.diagnostics.all(), [&](const Diagnostic& diagnostic) {
    const DiagnosticKind& kind = *diagnostic.kind;
    std::optional<std::string_view> path;
    if (diagnostic.input != kNone32)
      path = model.pools.Text(paths[static_cast<size_t>(diagnostic.input)]);
    json.Field("name", kind.name).Field("severity", SeverityName(kind.severity));
    json.Field("input", diagnostic.input).Field("path", path).Field("count", diagnostic.count);
    json.Field("meaning", kind.meaning).Field("remedy", kind.remedy);
    json.Objects("first", diagnostic.first, [&](const Occurrence& occurrence) {
      json.Field("offset", occurrence.offset < 0 ? kNone64 : occurrence.offset);
      json.Field("line", occurrence.line < 0 ? kNone64 : occurrence.line);
      json.Field("detail", occurrence.detail);
    });
  });
}

void WriteAnalyses(JsonWriter& json, const Model& model) {
  json.Objects("analyses", model.analyses, [&](const AnalysisOutcome& outcome) {
    json.Field("name", outcome.name).Field("state", StateName(outcome.state));
    json.Field("reason", outcome.reason).Field("findings", outcome.findings);
  });
}

void WriteBlame(JsonWriter& json, const Finding& finding) {
  json.ListField("ranks", finding.ranks);
  json.Objects("groups", finding.groups, [&](const GroupRef& group) {
    json.Field("name", group.name).Field("desc", group.desc).ListField("ranks", group.ranks);
  });
  json.Field("op", finding.op).Field("seq", finding.seq);
  json.Array("compile_ids", finding.compile_ids, [&](const std::string& id) { json.Value(id); });
  json.Objects("source", finding.source, [&](const SourceLine& line) {
    json.Field("rank", line.rank).Field("file", line.file).Field("line", line.line);
  });
}

void WriteFindings(JsonWriter& json, const Model& model) {
  json.Objects("findings", model.findings, [&](const Finding& finding) {
    json.Field("id", finding.id).Field("rule", finding.rule);
    json.Field("severity", SeverityName(finding.severity)).Field("role", RoleName(finding.role));
    json.Field("headline", finding.headline).Field("job", finding.job);
    json.Field("attempt", finding.attempt);
    WriteBlame(json, finding);
    json.Objects("evidence", finding.evidence, [&](const Evidence& evidence) {
      json.Field("text", evidence.text).Field("table", evidence.table);
      json.ListField("rows", evidence.rows);
    });
    json.Array("explains", finding.explains,
               [&](size_t explained) { json.Value(model.findings[explained].id); });
    json.Field("confidence", finding.confidence).Field("why", finding.why);
    json.Field("next_step", finding.next_step);
  });
}

}  // namespace

namespace {

std::string Write(const Model& model, int indent,
                  void (*write_inputs)(JsonWriter& json, const Model& model)) {
  std::string out;
  JsonWriter json(&out, indent);
  json.BeginObject().Field("schema", kFindingsSchema);
  json.Key("tool").BeginObject().Field("name", "debrief").Field("version", kVersion).EndObject();
  WriteJobs(json, model);
  WriteFindings(json, model);
  WriteAnalyses(json, model);
  WriteDiagnostics(json, model);
  write_inputs(json, model);
  json.EndObject();
  out += '\n';
  return out;
}

}  // namespace

std::string RunJson(const Model& model, int indent) { return Write(model, indent, WriteInputs); }

std::string PageJson(const Model& model) { return Write(model, 0, WriteInputColumns); }

std::string RunId(std::string_view findings_json) { return Md5Hex(findings_json).substr(0, 16); }

std::string RunId(const Model& model) { return RunId(RunJson(model, 1)); }

}  // namespace debrief
