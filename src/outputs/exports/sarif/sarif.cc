// Output "sarif": findings as SARIF 2.1.0, for code scanning and editors.
//
// A result is at the lines of source that the finding names; of a finding that names none, at an
// input of the ranks it blames, since readers want a place for every result.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/bytes/growing_file.h"
#include "base/bytes/md5.h"
#include "base/json/writer.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "base/version.h"
#include "outputs/output.h"
#include "tables/input.h"

namespace debrief::outputs::sarif {

namespace {

constexpr std::string_view kFile = "findings.sarif";
constexpr std::string_view kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

// A path as a reference: what is not plain is percent-encoded.
std::string UriOf(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool is_plain =
        IsAlphanumeric(c) || std::string_view("-._~/").find(c) != std::string_view::npos;
    if (is_plain)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<uint8_t>(c));
  }
  return uri;
}

std::string_view LevelOf(Severity severity) {
  if (severity == Severity::kError) return "error";
  return severity == Severity::kWarning ? "warning" : "note";
}

std::string MessageOf(const Finding& finding) {
  std::string text = finding.headline;
  if (!finding.ranks.empty()) text += fmt::format("\nranks: {}", FoldNumbers(finding.ranks));
  for (const Evidence& evidence : finding.evidence)
    text += fmt::format("\nevidence: {}", evidence.text);
  if (!finding.next_step.empty()) text += fmt::format("\nnext: {}", finding.next_step);
  return text;
}

void WriteLocation(JsonWriter& json, std::string_view path, int64_t line) {
  json.BeginObject().Key("physicalLocation").BeginObject();
  json.Key("artifactLocation").BeginObject().Field("uri", UriOf(path)).EndObject();
  if (line > 0) json.Key("region").BeginObject().Field("startLine", line).EndObject();
  json.EndObject().EndObject();
}

// An input of the ranks that are blamed, else of the job, else any.
std::string_view InputOf(const Model& model, const Finding& finding) {
  const auto& inputs = model.tables.Get<InputTable>();
  std::string_view found;
  int best = -1;
  for (size_t row = 0; row < inputs.size(); ++row) {
    const bool is_of_job = inputs.job[row] == finding.job;
    const bool is_of_rank =
        is_of_job && std::ranges::find(finding.ranks, inputs.rank[row]) != finding.ranks.end();
    const int fit = int{is_of_job} + int{is_of_rank};
    if (fit <= best) continue;
    best = fit;
    found = model.pools.Text(inputs.path[row]);
  }
  return found;
}

void WriteLocations(JsonWriter& json, const Model& model, const Finding& finding) {
  json.Key("locations").BeginArray();
  for (const SourceLine& line : finding.source) WriteLocation(json, line.file, line.line);
  const std::string_view input = finding.source.empty() ? InputOf(model, finding) : "";
  if (!input.empty()) WriteLocation(json, input, 1);
  json.EndArray();
}

void WriteResult(JsonWriter& json, const Model& model, const Finding& finding, size_t rule) {
  json.Field("ruleId", finding.rule).Field("ruleIndex", rule);
  json.Field("level", LevelOf(finding.severity));
  json.Key("message").BeginObject().Field("text", MessageOf(finding)).EndObject();
  WriteLocations(json, model, finding);
  if (!std::isnan(finding.confidence)) json.Field("rank", finding.confidence * 100);
  json.Key("partialFingerprints").BeginObject();
  json.Field("debrief/v1", Md5Hex(finding.rule + "\n" + finding.headline)).EndObject();
  json.Key("properties").BeginObject().Field("id", finding.id);
  json.Field("role", RoleName(finding.role)).ListField("ranks", finding.ranks);
  json.Field("next_step", finding.next_step).EndObject();
}

Status Write(const Model& model, const OutputContext& context) {
  const std::string path = PathOf(context, kFile);
  if (path.empty()) return {};
  std::map<std::string, size_t> places;
  std::vector<std::string> rules;
  for (const Finding& finding : model.findings)
    if (places.emplace(finding.rule, rules.size()).second) rules.push_back(finding.rule);
  std::string out;
  JsonWriter json(&out, 1);
  json.BeginObject().Field("$schema", kSchema).Field("version", "2.1.0");
  json.Key("runs").BeginArray().BeginObject();
  json.Key("tool").BeginObject().Key("driver").BeginObject();
  json.Field("name", "debrief").Field("version", kVersion);
  json.Objects("rules", rules, [&](const std::string& rule) { json.Field("id", rule); });
  json.EndObject().EndObject().Field("columnKind", "unicodeCodePoints");
  json.Objects("results", model.findings, [&](const Finding& finding) {
    WriteResult(json, model, finding, places[finding.rule]);
  });
  json.EndObject().EndArray().EndObject();
  return WriteFileAtomically(path, out + "\n");
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      {"sarif", "findings as SARIF 2.1.0, for code scanning", kFile, kOnRequest}, Write};
  return kOutput;
}

}  // namespace debrief::outputs::sarif
