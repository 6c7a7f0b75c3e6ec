#include "outputs/report/html/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/bytes/growing_file.h"
#include "base/json/writer.h"
#include "base/text/strings.h"
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

struct JobPicture {
  JobVerdict verdict;
  incident::Incident incident;
};

std::vector<JobPicture> Pictures(const Model& model) {
  std::vector<JobPicture> pictures;
  for (JobVerdict& verdict : ToldJobs(model)) {
    const Finding& first = model.findings[verdict.findings.front()];
    pictures.push_back({std::move(verdict), incident::MakeIncident(model, first)});
  }
  return pictures;
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

std::string StoryJson(const Model& model, const std::vector<JobPicture>& pictures, bool has_files) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Objects("jobs", pictures, [&](const JobPicture& one) {
    json.Field("job", one.verdict.job);
    json.Field("svg", incident::IncidentSvg(one.incident, /*is_file=*/false));
    json.Field("markdown", VerdictMarkdown(model, one.verdict,
                                           {.has_picture = has_files, .incident = &one.incident}));
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

Status WriteFiles(const std::vector<JobPicture>& pictures, const std::string& folder) {
  for (const JobPicture& one : pictures) {
    const std::string svg = incident::IncidentSvg(one.incident, /*is_file=*/true);
    if (svg.empty()) continue;
    const std::string path = PicturePath(one.verdict.job);
    TRY(WriteFileAtomically(fmt::format("{}/{}", folder, FileName(path)), svg));
  }
  return {};
}

}  // namespace

Status AddStory(const Model& model, Islands& islands) {
  if (model.findings.empty()) return {};
  const std::vector<JobPicture> pictures = Pictures(model);
  if (!islands.in_page()) TRY(WriteFiles(pictures, islands.folder()));
  return islands.Add("story", StoryJson(model, pictures, !islands.in_page()));
}

}  // namespace debrief::outputs::html
