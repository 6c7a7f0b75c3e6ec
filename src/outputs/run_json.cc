#include "outputs/run_json.h"

#include <map>
#include <set>
#include <vector>

#include "base/json/writer.h"
#include "base/version.h"
#include "tables/input.h"
#include "tables/job.h"
#include "tables/rank.h"

namespace debrief {

namespace {

void WriteJobs(JsonWriter& json, const Model& model) {
  const auto& jobs = model.tables.Get<JobTable>();
  const auto& ranks = model.tables.Get<RankTable>();
  std::map<int32_t, std::set<int32_t>> seen;  // by job
  for (size_t i = 0; i < ranks.size(); ++i) seen[ranks.job[i]].insert(ranks.rank[i]);
  json.Key("jobs").BeginArray();
  for (size_t i = 0; i < jobs.size(); ++i) {
    json.BeginObject()
        .Field("job", jobs.job[i])
        .Field("name", model.pools.Text(jobs.name[i]))
        .Field("world_size", jobs.world_size[i])
        .Field("attempts", jobs.attempts[i])
        .Field("inputs", jobs.inputs[i])
        .ListField("ranks", seen[jobs.job[i]])
        .EndObject();
  }
  json.EndArray();
}

void WriteInputs(JsonWriter& json, const Model& model) {
  const auto& inputs = model.tables.Get<InputTable>();
  json.Key("inputs").BeginArray();
  for (size_t i = 0; i < inputs.size(); ++i) {
    json.BeginObject()
        .Field("input", inputs.input[i])
        .Field("path", model.pools.Text(inputs.path[i]))
        .Field("kind", model.pools.Text(inputs.kind[i]))
        .Field("state", model.pools.Text(inputs.state[i]))
        .Field("job", inputs.job[i])
        .Field("attempt", inputs.attempt[i])
        .Field("rank", inputs.rank[i])
        .Field("bytes", inputs.bytes[i])
        .Field("content_bytes", inputs.content_bytes[i])
        .Field("rows", inputs.rows[i])
        .Field("start_ns", inputs.start_ns[i])
        .EndObject();
  }
  json.EndArray();
}

void WriteOccurrences(JsonWriter& json, const Diagnostic& diagnostic) {
  json.Key("first").BeginArray();
  for (const Occurrence& occurrence : diagnostic.first) {
    json.BeginObject()
        .Field("offset", occurrence.offset < 0 ? kNone64 : occurrence.offset)
        .Field("line", occurrence.line < 0 ? kNone64 : occurrence.line)
        .Field("detail", occurrence.detail)
        .EndObject();
  }
  json.EndArray();
}

void WriteDiagnostics(JsonWriter& json, const Model& model) {
  const auto& inputs = model.tables.Get<InputTable>();
  json.Key("diagnostics").BeginArray();
  for (const Diagnostic& diagnostic : model.diagnostics.all()) {
    json.BeginObject()
        .Field("name", diagnostic.kind->name)
        .Field("severity", SeverityName(diagnostic.kind->severity))
        .Field("input", diagnostic.input);
    json.Key("path");
    if (diagnostic.input == kNone32) {
      json.Null();
    } else {
      json.Value(model.pools.Text(inputs.path[static_cast<size_t>(diagnostic.input)]));
    }
    json.Field("count", diagnostic.count)
        .Field("meaning", diagnostic.kind->meaning)
        .Field("remedy", diagnostic.kind->remedy);
    WriteOccurrences(json, diagnostic);
    json.EndObject();
  }
  json.EndArray();
}

void WriteAnalyses(JsonWriter& json, const Model& model) {
  json.Key("analyses").BeginArray();
  for (const AnalysisOutcome& outcome : model.analyses) {
    json.BeginObject()
        .Field("name", outcome.name)
        .Field("state", StateName(outcome.state))
        .Field("reason", outcome.reason)
        .Field("findings", outcome.findings)
        .EndObject();
  }
  json.EndArray();
}

void WriteBlame(JsonWriter& json, const Finding& finding) {
  json.ListField("ranks", finding.ranks).Key("groups").BeginArray();
  for (const GroupRef& group : finding.groups) {
    json.BeginObject().Field("name", group.name).Field("desc", group.desc);
    json.ListField("ranks", group.ranks).EndObject();
  }
  json.EndArray().Field("op", finding.op).Field("seq", finding.seq);
  json.Key("compile_ids").BeginArray();
  for (const std::string& id : finding.compile_ids) json.Value(std::string_view(id));
  json.EndArray().Key("source").BeginArray();
  for (const SourceLine& line : finding.source) {
    json.BeginObject()
        .Field("rank", line.rank)
        .Field("file", line.file)
        .Field("line", line.line)
        .EndObject();
  }
  json.EndArray();
}

void WriteEvidence(JsonWriter& json, const Finding& finding) {
  json.Key("evidence").BeginArray();
  for (const Evidence& evidence : finding.evidence) {
    json.BeginObject().Field("text", evidence.text).Field("table", evidence.table);
    json.ListField("rows", evidence.rows).EndObject();
  }
  json.EndArray();
}

void WriteFindings(JsonWriter& json, const Model& model) {
  json.Key("findings").BeginArray();
  for (const Finding& finding : model.findings) {
    json.BeginObject()
        .Field("id", finding.id)
        .Field("rule", finding.rule)
        .Field("severity", SeverityName(finding.severity))
        .Field("role", RoleName(finding.role))
        .Field("headline", finding.headline)
        .Field("job", finding.job)
        .Field("attempt", finding.attempt);
    WriteBlame(json, finding);
    WriteEvidence(json, finding);
    json.Key("explains").BeginArray();
    for (size_t explained : finding.explains)
      json.Value(std::string_view(model.findings[explained].id));
    json.EndArray()
        .Field("confidence", finding.confidence)
        .Field("why", finding.why)
        .Field("next_step", finding.next_step)
        .EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string RunJson(const Model& model, int indent) {
  std::string out;
  JsonWriter json(&out, indent);
  json.BeginObject().Field("schema", kFindingsSchema);
  json.Key("tool").BeginObject().Field("name", "debrief").Field("version", kVersion).EndObject();
  WriteJobs(json, model);
  WriteFindings(json, model);
  WriteAnalyses(json, model);
  WriteDiagnostics(json, model);
  WriteInputs(json, model);
  json.EndObject();
  out += '\n';
  return out;
}

}  // namespace debrief
