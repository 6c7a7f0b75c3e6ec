// The answer on a terminal. Of one job it is a story of at most 15 lines (story.cc): the most
// important finding with what it rests on, other findings, inputs, trouble, what did not run. Of
// several jobs it is a section of each, the worst first, then
//
//   Jobs: what was found, by job and kind
//   Trouble: diagnostics, most serious first
//   Not analysed: which analyses lacked data
//
// Long lists are cut with a line that says how to see the rest.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/text/columns.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "model/diagnostics.h"
#include "outputs/job_verdicts.h"
#include "outputs/output.h"
#include "outputs/terminal/console/inputs_seen.h"
#include "outputs/terminal/console/no_problem.h"
#include "outputs/terminal/console/paper.h"
#include "outputs/terminal/console/story.h"
#include "tables/input.h"
#include "tables/job.h"

namespace debrief::outputs::console {

namespace {

constexpr size_t kMostVerdicts = 20;
constexpr size_t kMostFindingsOfMany = 2;
constexpr size_t kMostJobs = 12;
constexpr size_t kMostDiagnostics = 8;
constexpr size_t kMostTrouble = 1;    // below a story
constexpr size_t kMostOfTrouble = 2;  // lines of it, and of its remedy
constexpr size_t kMostOfAll = 13;     // lines; how much more there is and what did not run follow

void WriteFinding(const Finding& finding, const Model& model, Paper& paper) {
  paper.Labelled(SeverityName(finding.severity), InkOf(finding.severity), finding.headline);
  if (!finding.explains.empty()) {
    const std::string& example = model.findings[finding.explains.front()].headline;
    size_t count = finding.explains.size();
    paper.Line(count == 1 ? fmt::format("consequence: {}", example)
                          : fmt::format("{} consequences, for example: {}", count, example),
               9, Ink::kDim);
  }
  if (!finding.next_step.empty()) paper.Line("next: " + finding.next_step, 9, Ink::kDim);
}

// The findings of one job, at most `most` of them.
void WriteVerdict(const Model& model, const JobVerdict& verdict, size_t most, Paper& paper) {
  size_t shown = std::min(most, verdict.told);
  for (size_t i = 0; i < shown; ++i)
    WriteFinding(model.findings[verdict.findings[i]], model, paper);
  if (shown < verdict.told) {
    paper.Line(fmt::format("... and {} more: see findings.json or --json", verdict.told - shown));
  }
}

// Is nothing told that is wrong? What only says how things are (info) is no problem.
bool IsHealthy(const Model& model, const JobVerdict& verdict) {
  return std::all_of(verdict.findings.begin(), verdict.findings.end(),
                     [&](size_t i) { return model.findings[i].severity == Severity::kInfo; });
}

// A section of every job that has findings, the worst first, and one line for those that have none.
void WriteManyVerdicts(const Model& model, const std::vector<JobVerdict>& verdicts, Paper& paper) {
  std::vector<std::string> silent;
  size_t shown = 0, left = 0;
  for (const JobVerdict& verdict : verdicts) {
    if (verdict.told == 0) {
      silent.push_back(Printable(verdict.name));
    } else if (shown == kMostVerdicts) {
      ++left;
    } else {
      ++shown;
      paper.Title(Printable(verdict.name));
      WriteVerdict(model, verdict, kMostFindingsOfMany, paper);
    }
  }
  if (left > 0)
    paper.Line(fmt::format("... and {} with findings: see --json", Plural(left, "more job")));
  if (silent.empty()) return;
  paper.Title("No problem found");
  for (size_t i = 0; i < std::min(kMostJobs, silent.size()); ++i) paper.Line(silent[i], 2);
  if (silent.size() > kMostJobs)
    paper.Line(fmt::format("... and {} more jobs: see --json", silent.size() - kMostJobs), 2);
}

// All inputs of one kind in one job.
struct KindOfJob {
  std::set<int32_t> ranks;
  size_t inputs = 0;
  size_t unread = 0;  // recognised only
  size_t failed = 0;
};

using KindsByJob = std::map<int32_t, std::map<std::string, KindOfJob>>;  // by noun

KindsByJob CountKinds(const Model& model) {
  const auto& inputs = model.tables.Get<InputTable>();
  KindsByJob jobs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    KindOfJob& kind = jobs[inputs.job[i]][NounOf(model.pools.Text(inputs.kind[i]))];
    std::string_view state = model.pools.Text(inputs.state[i]);
    ++kind.inputs;
    kind.unread += state == "recognised";
    kind.failed += state == "failed";
    if (inputs.rank[i] != kNone32) kind.ranks.insert(inputs.rank[i]);
  }
  return jobs;
}

std::string InWords(const KindOfJob& kind) {
  std::vector<int32_t> ranks(kind.ranks.begin(), kind.ranks.end());
  std::string words = ranks.empty() ? "" : RanksInWords(ranks);
  auto add = [&](const std::string& text) { words += (words.empty() ? "" : "; ") + text; };
  if (kind.failed > 0) add(fmt::format("{} failed", kind.failed));
  if (kind.unread > 0) add("recognised, not read by this version");
  return words;
}

void WriteKinds(const std::map<std::string, KindOfJob>& kinds, Paper& paper) {
  TextTable table({{"inputs"}, {"state"}});
  for (const auto& [noun, kind] : kinds) table.Add({Plural(kind.inputs, noun), InWords(kind)});
  paper.Table(table, 4);
}

std::string JobInWords(const Model& model, size_t job) {
  const auto& jobs = model.tables.Get<JobTable>();
  std::string words = fmt::format("{}: {}", model.pools.Text(jobs.name[job]),
                                  Plural(static_cast<size_t>(jobs.inputs[job]), "input"));
  if (jobs.world_size[job] != kNone32)
    words += fmt::format(", world size {}", jobs.world_size[job]);
  if (jobs.attempts[job] > 1) words += fmt::format(", {} attempts", jobs.attempts[job]);
  return words;
}

std::string PlaceOf(const Model& model, const Diagnostic& diagnostic) {
  Place place;
  if (diagnostic.input != kNone32) {
    const auto& inputs = model.tables.Get<InputTable>();
    place.file = std::string(model.pools.Text(inputs.path[static_cast<size_t>(diagnostic.input)]));
  }
  if (!diagnostic.first.empty()) {
    place.offset = diagnostic.first.front().offset;
    place.line = diagnostic.first.front().line;
  }
  return ToString(place);
}

// The same trouble in many inputs is one line.
struct SameTrouble {
  const Diagnostic* example;
  size_t inputs = 0;
  int64_t count = 0;
};

std::vector<SameTrouble> GroupTrouble(const Model& model) {
  std::map<std::string_view, SameTrouble> groups;
  for (const Diagnostic& diagnostic : model.diagnostics.all()) {
    SameTrouble& group =
        groups.try_emplace(diagnostic.kind->name, SameTrouble{&diagnostic}).first->second;
    ++group.inputs;
    group.count += diagnostic.count;
  }
  std::vector<SameTrouble> sorted;
  for (const auto& [name, group] : groups) sorted.push_back(group);
  std::stable_sort(sorted.begin(), sorted.end(), [](const SameTrouble& a, const SameTrouble& b) {
    return a.example->kind->severity > b.example->kind->severity;
  });
  return sorted;
}

// `has_place`: with where it is; the first of many inputs says little in one line.
std::string TroubleText(const Model& model, const SameTrouble& trouble, bool has_place) {
  const DiagnosticKind& kind = *trouble.example->kind;
  std::string text = fmt::format("{}: {}", kind.name, kind.meaning);
  if (trouble.inputs > 1 && !has_place) {
    text += fmt::format(" ({} inputs)", trouble.inputs);
  } else if (trouble.inputs > 1) {
    text += fmt::format(" ({} inputs, the first: {})", trouble.inputs,
                        PlaceOf(model, *trouble.example));
  } else {
    text += fmt::format(" ({}{})", PlaceOf(model, *trouble.example),
                        trouble.count > 1 ? fmt::format(", {} times", trouble.count) : "");
  }
  return text;
}

void WriteTrouble(const Model& model, const SameTrouble& trouble, Paper& paper) {
  const DiagnosticKind& kind = *trouble.example->kind;
  paper.Labelled(SeverityName(kind.severity), InkOf(kind.severity),
                 TroubleText(model, trouble, true));
  if (kind.severity != Severity::kInfo) paper.Line(kind.remedy, 9, Ink::kDim);
}

// Those of one job, as a story.
void WriteFindings(const Model& model, const std::vector<JobVerdict>& verdicts,
                   const OutputContext& context, Paper& paper) {
  const bool nothing = verdicts.empty() || IsHealthy(model, verdicts.front());
  const bool has_remarks = !verdicts.empty() && verdicts.front().told > 0;
  auto other = std::find_if(model.findings.begin(), model.findings.end(), [](const Finding& f) {
    return f.severity != Severity::kInfo && f.role == Role::kCause;
  });
  std::string all_well;
  if (nothing && other != model.findings.end())
    all_well = fmt::format("None of this kind, but: {}", other->headline);
  else if (nothing)
    all_well = NoProblemInWords(model, kNone32, has_remarks);
  // The largest loss of a slow job leads; that it did not fail stands below.
  if (has_remarks) WriteStory(model, verdicts.front(), context, all_well.empty() ? 0 : 2, paper);
  if (!all_well.empty()) paper.Line(all_well);
}

void WriteJobs(const Model& model, Paper& paper) {
  const auto& jobs = model.tables.Get<JobTable>();
  KindsByJob kinds = CountKinds(model);
  paper.Title(fmt::format("Inputs: {} in {}", model.tables.Get<InputTable>().size(),
                          Plural(jobs.size(), "job")));
  size_t shown = std::min(kMostJobs, jobs.size());
  for (size_t i = 0; i < shown; ++i) {
    paper.Line(JobInWords(model, i), 2);
    WriteKinds(kinds[jobs.job[i]], paper);
  }
  if (shown < jobs.size())
    paper.Line(fmt::format("... and {} more jobs: see --json", jobs.size() - shown), 2);
  if (kinds.contains(kNone32)) {
    paper.Line("not assigned to a job (neither their text nor their folder shows which):", 2);
    WriteKinds(kinds[kNone32], paper);
  }
}

void WriteDiagnostics(const Model& model, Paper& paper) {
  std::vector<SameTrouble> groups = GroupTrouble(model);
  if (groups.empty()) return;
  paper.Title("Trouble in the inputs");
  size_t shown = std::min(kMostDiagnostics, groups.size());
  for (size_t i = 0; i < shown; ++i) WriteTrouble(model, groups[i], paper);
  if (shown < groups.size())
    paper.Line(fmt::format("... and {} more kinds: see --json", groups.size() - shown));
}

// Below a story: the same trouble in many inputs is one text; with remedies, and as many as there
// is room for, where trouble is all that there is to say.
void WriteFootLines(const Model& model, bool is_all, Paper& paper) {
  std::vector<SameTrouble> groups = GroupTrouble(model);
  std::erase_if(groups, [](const SameTrouble& group) {
    return group.example->kind->severity == Severity::kInfo;
  });
  size_t shown = 0;
  while (shown < groups.size() &&
         (is_all ? paper.lines() + 2 * kMostOfTrouble <= kMostOfAll : shown < kMostTrouble)) {
    const DiagnosticKind& kind = *groups[shown].example->kind;
    const bool has_room = paper.lines() + kMostOfTrouble <= kMostOfAll + 1;
    paper.Labelled(SeverityName(kind.severity), InkOf(kind.severity),
                   TroubleText(model, groups[shown], is_all), has_room ? kMostOfTrouble : 1);
    if (is_all) paper.Beside(kind.remedy, kMostOfTrouble);
    ++shown;
  }
  if (is_all && groups.size() > shown)
    paper.Beside(
        fmt::format("... and {} more kinds of trouble: see --json", groups.size() - shown));
}

void WriteNotRunLine(const Model& model, Paper& paper) {
  size_t lacking = 0;
  std::string failed;
  for (const AnalysisOutcome& outcome : model.analyses) {
    lacking += outcome.state == AnalysisOutcome::State::kNotRun ? 1 : 0;
    if (outcome.state == AnalysisOutcome::State::kFailed)
      failed += fmt::format("; {} failed: {}", outcome.name, outcome.reason);
  }
  if (lacking == 0 && failed.empty()) return;
  paper.Labelled(
      "not run", Ink::kDim,
      fmt::format("{} of {} analyses need inputs that are not here (debrief list analyses){}",
                  lacking, model.analyses.size(), failed),
      1);
}

Status Write(const Model& model, const OutputContext& context) {
  Paper paper(*context.text, context.width, context.colour);
  const std::vector<JobVerdict> verdicts = JobVerdicts(model, context.findings_of);
  if (verdicts.size() > 1) {
    WriteManyVerdicts(model, verdicts, paper);
    if (context.findings_of.empty()) WriteJobs(model, paper);
    WriteDiagnostics(model, paper);
    if (context.findings_of.empty()) WriteNotRunLine(model, paper);
    return {};
  }
  WriteFindings(model, verdicts, context, paper);
  if (context.findings_of.empty()) WriteInputsLine(model, paper);
  WriteFootLines(model, verdicts.empty() || verdicts.front().told == 0, paper);
  if (context.findings_of.empty()) WriteNotRunLine(model, paper);
  return {};
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      {"console", "the verdict, inputs and diagnostics as text on the terminal"}, Write};
  return kOutput;
}

}  // namespace debrief::outputs::console
