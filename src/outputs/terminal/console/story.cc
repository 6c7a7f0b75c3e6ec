#include "outputs/terminal/console/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/clauses.h"
#include "base/text/columns.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "base/text/units.h"
#include "outputs/finding_markdown.h"
#include "outputs/incident/incident.h"
#include "outputs/terminal/console/inputs_seen.h"
#include "tables/input.h"
#include "tables/job.h"

namespace debrief::outputs::console {

namespace {

constexpr size_t kMostEvidence = 2;
constexpr size_t kMostOthers = 3;
constexpr size_t kMostStory = 11;  // lines; inputs (2), trouble and what did not run follow

// One thing that is said of the first finding, in at most so many lines.
struct Said {
  std::string text;
  size_t most;
  std::string brief = {};  // where the story would get too long; empty: cannot be shortened
  bool is_evidence = false;
};

// " in attempt 1, the last of 2", where there are several.
std::string InAttempt(const Model& model, const Finding& finding) {
  const auto& jobs = model.tables.Get<JobTable>();
  const auto job = std::ranges::find(jobs.job, finding.job);
  if (job == jobs.job.end() || finding.attempt == kNone32) return {};
  const auto row = static_cast<size_t>(job - jobs.job.begin());
  const int32_t attempts = jobs.attempts[row];
  if (attempts <= 1) return {};
  const std::string_view which = finding.attempt == 0              ? ", the first"
                                 : finding.attempt == attempts - 1 ? ", the last"
                                                                   : "";
  return fmt::format(" in attempt {}{} of {}", finding.attempt, which, attempts);
}

// "blamed: rank 5; confidence high (93 %)".
std::string Blamed(const Model& model, const Finding& finding) {
  std::string words;
  const bool is_cause = finding.role == Role::kCause;
  if (!finding.ranks.empty())
    words = fmt::format("{} {}", is_cause ? "blamed:" : "seen on", RanksInWords(finding.ranks));
  else if (is_cause && finding.severity == Severity::kError)
    words = "no rank is blamed";
  if (!words.empty()) words += InAttempt(model, finding);
  // What was measured is not more or less likely.
  const bool is_measured = !is_cause && finding.confidence == 1;
  if (std::isnan(finding.confidence) || is_measured) return words;
  return fmt::format("{}{}confidence {}", words, words.empty() ? "" : "; ",
                     ConfidenceText(finding.confidence));
}

// With the first reason, and as many more as need no further line. Reasons are joined by "; ".
std::string BlameWords(const Model& model, const Finding& finding, size_t width) {
  std::string words = Blamed(model, finding);
  if (finding.why.empty()) return words;
  const std::string_view why = finding.why;
  size_t end = std::min(why.find("; "), why.size());
  auto line = [&](size_t until) {
    return fmt::format("{}{}{}", words, words.empty() ? "" : ": ", why.substr(0, until));
  };
  const size_t lines = WrapAtMost(line(end), width, SIZE_MAX).size();
  while (end < why.size()) {
    const size_t next = std::min(why.find("; ", end + 2), why.size());
    if (WrapAtMost(line(next), width, SIZE_MAX).size() > lines) break;
    end = next;
  }
  return line(end);
}

// Without rows it is the headline at full length, which findings.json and the report have.
size_t EvidenceWithRows(const Finding& finding) {
  return static_cast<size_t>(std::ranges::count_if(
      finding.evidence, [](const Evidence& evidence) { return !evidence.table.empty(); }));
}

// Its first sentence, where that is not the quote of a line, whose point may stand at its end.
std::string BriefEvidence(const Evidence& evidence, size_t width) {
  const bool is_quote = evidence.table == "text_event" || evidence.table == "process_exit" ||
                        evidence.table == "tail_line";
  const std::string text = "evidence: " + evidence.text.substr(0, evidence.text.find("; "));
  return is_quote || TextWidth(text) > width ? "" : text;
}

void AddEvidence(const Finding& finding, size_t width, std::vector<Said>& said) {
  size_t shown = 0;
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.table.empty() || shown == kMostEvidence) continue;
    said.push_back({.text = "evidence: " + evidence.text,
                    .most = 2,
                    .brief = BriefEvidence(evidence, width),
                    .is_evidence = true});
    ++shown;
  }
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

// A consequence without the operation that the headline names already: of "7 of 8 ranks left no
// dump; rank 6 waits in all_reduce #27 of default_pg [0-7]" the first half.
std::string_view News(std::string_view consequence, std::string_view headline) {
  const size_t end = consequence.find("; ");
  const size_t in = consequence.find(" in ", std::min(end, consequence.size()));
  const std::string_view op = in == std::string_view::npos ? "" : consequence.substr(in);
  const bool is_known = !op.empty() && Contains(headline, op.substr(0, op.find(" (")));
  return is_known ? consequence.substr(0, end) : consequence;
}

// "consequence: ... (2 more consequences)": the most important one that is about others. What is
// about the blamed ranks themselves mostly says the headline again.
std::string Consequence(const Model& model, const Finding& finding) {
  const auto example = std::ranges::find_if(
      finding.explains, [&](size_t i) { return model.findings[i].ranks != finding.ranks; });
  if (example == finding.explains.end()) return {};
  const size_t count = finding.explains.size();
  return fmt::format("consequence: {}{}", News(model.findings[*example].headline, finding.headline),
                     count == 1 ? "" : fmt::format(" ({})", Plural(count - 1, "more consequence")));
}

// All that is said below the headline, in order.
std::vector<Said> SayingsOf(const Model& model, const Finding& finding, size_t width) {
  std::vector<Said> said;
  // How it went on comes first: a headline alone may not tell a hang from a crash.
  const std::string consequence = Consequence(model, finding);
  if (!consequence.empty())
    said.push_back({.text = consequence, .most = 2, .brief = CutAtClause(consequence, width)});
  const std::string blame = BlameWords(model, finding, width);
  if (!blame.empty()) said.push_back({.text = blame, .most = 2});
  if (finding.role == Role::kCause && finding.severity != Severity::kInfo) {
    const std::string sketch =
        incident::IncidentSketch(incident::MakeIncident(model, finding), width);
    if (!sketch.empty()) said.push_back({.text = sketch, .most = 1});
  }
  AddEvidence(finding, width, said);
  if (!finding.next_step.empty()) said.push_back({.text = "next: " + finding.next_step, .most = 3});
  return said;
}

// The last to be said are shortened first; then evidence is left out, but for its first sentence.
void Fit(size_t room, size_t width, std::vector<Said>& said) {
  auto is_too_long = [&] {
    size_t sum = 0;
    for (const Said& each : said) sum += WrapAtMost(each.text, width, each.most).size();
    return sum > room;
  };
  for (size_t i = said.size(); i > 0 && is_too_long(); --i) {
    if (!said[i - 1].brief.empty()) said[i - 1].text = said[i - 1].brief;
  }
  const auto first = std::ranges::find_if(said, &Said::is_evidence);
  while (is_too_long()) {
    const auto last = std::find_if(said.rbegin(), said.rend(), std::mem_fn(&Said::is_evidence));
    if (last == said.rend() || last.base() - 1 == first) break;
    said.erase(last.base() - 1);
  }
  if (first != said.end() && is_too_long()) first->text = CutAtWord(first->text, width);
}

// How many lines of evidence are not shown.
size_t WriteFirst(const Model& model, const Finding& finding, size_t behind, Paper& paper) {
  paper.Labelled(SeverityName(finding.severity), InkOf(finding.severity), finding.headline, 2);
  std::vector<Said> said = SayingsOf(model, finding, paper.Room());
  const size_t room = kMostStory - std::min(kMostStory, paper.lines() + behind + 1);
  Fit(room, paper.Room(), said);
  size_t shown = 0;
  for (const Said& each : said) {
    paper.Beside(each.text, each.most);
    shown += each.is_evidence ? 1 : 0;
  }
  return EvidenceWithRows(finding) - shown;
}

// Further findings, a headline each, as long as there is room; how many.
size_t WriteOthers(const Model& model, const JobVerdict& verdict, size_t behind, Paper& paper) {
  size_t shown = 1;
  for (; shown < verdict.told && shown <= kMostOthers; ++shown) {
    const Finding& finding = model.findings[verdict.findings[shown]];
    const size_t left = kMostStory - std::min(kMostStory, paper.lines() + behind + 1);
    if (WrapAtMost(finding.headline, paper.Room(), 2).size() > left) break;
    paper.Labelled(SeverityName(finding.severity), InkOf(finding.severity), finding.headline, 2);
  }
  return shown;
}

}  // namespace

void WriteStory(const Model& model, const JobVerdict& verdict, const OutputContext& context,
                size_t behind, Paper& paper) {
  const size_t evidence =
      WriteFirst(model, model.findings[verdict.findings.front()], behind, paper);
  const size_t shown = WriteOthers(model, verdict, behind, paper);
  WriteMore(verdict.told - shown, evidence, context.folder, paper);
}

void WriteInputsLine(const Model& model, Paper& paper) {
  const auto& jobs = model.tables.Get<JobTable>();
  std::string words = Plural(model.tables.Get<InputTable>().size(), "input");
  if (jobs.size() == 1 && jobs.world_size[0] != kNone32)
    words += fmt::format(", world size {}", jobs.world_size[0]);
  if (jobs.size() == 1 && jobs.attempts[0] > 1)
    words += fmt::format(", {} attempts", jobs.attempts[0]);
  const std::string kinds = InputsInWords(LookAtInputs(model, kNone32));
  paper.Labelled("inputs", Ink::kDim, kinds.empty() ? words : fmt::format("{}: {}", words, kinds),
                 2);
}

}  // namespace debrief::outputs::console
