#include "outputs/report/html/story.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes/growing_file.h"
#include "base/json/writer.h"
#include "outputs/incident/incident.h"
#include "outputs/job_verdicts.h"
#include "outputs/table_cell.h"
#include "outputs/verdict_markdown.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kMostJobs = 40;  // that have a picture
constexpr size_t kMostFindings = 60;
constexpr size_t kMostEvidence = 12;
constexpr size_t kMostRows = 4;
constexpr size_t kLargestEvidence = 4000;  // bytes of JSON

// Jobs with findings, the worst first.
std::vector<JobVerdict> ToldJobs(const Model& model) {
  std::vector<JobVerdict> verdicts = JobVerdicts(model);
  std::erase_if(verdicts, [](const JobVerdict& one) { return one.findings.empty(); });
  if (verdicts.size() > kMostJobs) verdicts.resize(kMostJobs);
  return verdicts;
}

incident::Incident IncidentOf(const Model& model, const JobVerdict& verdict) {
  return incident::MakeIncident(model, model.findings[verdict.findings.front()]);
}

// Rows that are too large for a page are left out; the sentence still names them.
void WriteEvidence(const Model& model, const Evidence& evidence, JsonWriter& json) {
  json.BeginArray();
  const Table* table = model.tables.FindFilled(evidence.table);
  for (size_t i = 0; table != nullptr && i < std::min(kMostRows, evidence.rows.size()); ++i) {
    const auto row = static_cast<size_t>(evidence.rows[i]);
    if (evidence.rows[i] < 0 || row >= table->size()) continue;
    std::string text;
    JsonWriter one(&text);
    WriteRow(model, *table, row, one);
    if (text.size() <= kLargestEvidence) json.Raw(text);
  }
  json.EndArray();
}

}  // namespace

std::string StoryJson(const Model& model) {
  if (model.findings.empty()) return "";
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Objects("jobs", ToldJobs(model), [&](const JobVerdict& verdict) {
    json.Field("job", verdict.job);
    json.Field("svg", incident::IncidentSvg(IncidentOf(model, verdict), /*is_file=*/false));
    json.Field("markdown", VerdictMarkdown(model, verdict, 2));
  });
  json.Key("evidence").BeginObject();
  for (size_t i = 0; i < std::min(kMostFindings, model.findings.size()); ++i) {
    const Finding& finding = model.findings[i];
    json.Key(finding.id).BeginArray();
    for (size_t j = 0; j < std::min(kMostEvidence, finding.evidence.size()); ++j)
      WriteEvidence(model, finding.evidence[j], json);
    json.EndArray();
  }
  json.EndObject().EndObject();
  return out;
}

Status WriteIncidents(const Model& model, const std::string& folder) {
  for (const JobVerdict& verdict : ToldJobs(model)) {
    const std::string svg = incident::IncidentSvg(IncidentOf(model, verdict), /*is_file=*/true);
    if (svg.empty()) continue;
    const int32_t job = verdict.job == kNone32 ? 0 : verdict.job;
    TRY(WriteFileAtomically(fmt::format("{}/incident_{}.svg", folder, job), svg));
  }
  return {};
}

}  // namespace debrief::outputs::html
