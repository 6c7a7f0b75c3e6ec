#include "outputs/terminal/console/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "outputs/finding_markdown.h"
#include "outputs/incident/incident.h"
#include "tables/input.h"
#include "tables/job.h"

namespace debrief::outputs::console {

namespace {

constexpr size_t kMostHeadline = 2;  // lines
constexpr size_t kMostEvidence = 2;
constexpr size_t kMostNext = 3;  // lines
constexpr size_t kMostOthers = 3;
constexpr size_t kMostStory = 11;  // lines; inputs (2), trouble and what did not run follow

// "blamed: rank 5; confidence high (93 %): compared with sibling groups".
std::string BlameWords(const Finding& finding) {
  std::string words;
  if (!finding.ranks.empty())
    words = fmt::format("{}{}", finding.role == Role::kCause ? "blamed: " : "",
                        RanksInWords(finding.ranks));
  if (std::isnan(finding.confidence)) return words;
  words +=
      fmt::format("{}confidence {}", words.empty() ? "" : "; ", ConfidenceText(finding.confidence));
  return finding.why.empty() ? words : fmt::format("{}: {}", words, finding.why);
}

// Its first sentences; how many more there are.
size_t WriteEvidence(const Finding& finding, Paper& paper) {
  size_t shown = 0, left = 0;
  for (const Evidence& evidence : finding.evidence) {
    // Without rows it is the headline at full length, which findings.json and the report have.
    if (evidence.table.empty()) continue;
    if (++shown > kMostEvidence) {
      ++left;
    } else {
      paper.Beside("evidence: " + evidence.text);
    }
  }
  return left;
}

// "... and 2 more findings, 3 more lines of evidence: debrief explain out".
void WriteMore(size_t findings, size_t evidence, const std::string& folder, Paper& paper) {
  if (findings + evidence == 0) return;
  std::string words;
  if (findings > 0) words = Plural(findings, "more finding");
  if (evidence > 0)
    words +=
        fmt::format("{}{} of evidence", words.empty() ? "" : ", ", Plural(evidence, "more line"));
  paper.Beside(fmt::format("... and {}: {}", words,
                           folder.empty() ? "see --json" : "debrief explain " + folder));
}

// How many lines of evidence are not shown.
size_t WriteFirst(const Model& model, const Finding& finding, const OutputContext& context,
                  Paper& paper) {
  paper.Labelled(SeverityName(finding.severity), InkOf(finding.severity), finding.headline,
                 kMostHeadline);
  const std::string blame = BlameWords(finding);
  if (!blame.empty()) paper.Beside(blame);
  if (finding.role == Role::kCause && finding.severity != Severity::kInfo) {
    const std::string sketch = incident::IncidentSketch(incident::MakeIncident(model, finding),
                                                        paper.Room(), context.unicode);
    if (!sketch.empty()) paper.Beside(sketch);
  }
  const size_t left = WriteEvidence(finding, paper);
  if (!finding.next_step.empty()) paper.Beside("next: " + finding.next_step, kMostNext);
  if (finding.explains.empty()) return left;
  const std::string& example = model.findings[finding.explains.front()].headline;
  const size_t count = finding.explains.size();
  paper.Beside(fmt::format(
      "{}: {}", count == 1 ? "consequence" : fmt::format("{} consequences", count), example));
  return left;
}

}  // namespace

void WriteStory(const Model& model, const JobVerdict& verdict, const OutputContext& context,
                Paper& paper) {
  const size_t evidence =
      WriteFirst(model, model.findings[verdict.findings.front()], context, paper);
  const size_t room = kMostStory - std::min(kMostStory, paper.lines());
  const size_t others = std::min(kMostOthers, std::max(room, size_t{1}) - 1);
  const size_t shown = std::min(verdict.told, others + 1);
  for (size_t i = 1; i < shown; ++i) {
    const Finding& finding = model.findings[verdict.findings[i]];
    paper.Labelled(SeverityName(finding.severity), InkOf(finding.severity), finding.headline, 1);
  }
  WriteMore(verdict.told - shown, evidence, context.folder, paper);
}

void WriteInputsLine(const Model& model, Paper& paper) {
  const auto& inputs = model.tables.Get<InputTable>();
  struct Kind {
    size_t inputs = 0, failed = 0;
    std::set<int32_t> ranks;
  };
  std::map<std::string_view, Kind> kinds;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Kind& kind = kinds[model.pools.Text(inputs.kind[i])];
    ++kind.inputs;
    kind.failed += model.pools.Text(inputs.state[i]) == "failed" ? 1 : 0;
    if (inputs.rank[i] != kNone32) kind.ranks.insert(inputs.rank[i]);
  }
  std::string words;
  for (const auto& [name, kind] : kinds) {
    const std::vector<int32_t> ranks(kind.ranks.begin(), kind.ranks.end());
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", kind.inputs, name);
    if (!ranks.empty()) words += fmt::format(" ({})", RanksInWords(ranks));
    if (kind.failed > 0) words += fmt::format(", {} failed", kind.failed);
  }
  const auto& jobs = model.tables.Get<JobTable>();
  std::string job = Plural(inputs.size(), "input");
  if (jobs.size() == 1 && jobs.world_size[0] != kNone32)
    job += fmt::format(", world size {}", jobs.world_size[0]);
  if (jobs.size() == 1 && jobs.attempts[0] > 1)
    job += fmt::format(", {} attempts", jobs.attempts[0]);
  paper.Labelled("inputs", Ink::kDim, words.empty() ? job : fmt::format("{}: {}", job, words), 2);
}

}  // namespace debrief::outputs::console
