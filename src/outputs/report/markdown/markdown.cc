// The verdict as Markdown: `debrief PATH --markdown` prints it, to paste into a ticket;
// `--with markdown` writes it beside the report, for notebooks and wikis, with the incident
// picture.
//
//   ## error: <headline>            of every job, the worst first
//   whom it blames, next step, confidence, a sketch of the ranks, evidence
//   <details> what follows from it, other findings </details>
//   <details> what was analysed and what was not </details>
//   versions
#include <fmt/format.h>

#include <map>

#include "base/bytes/growing_file.h"
#include "base/text/units.h"
#include "base/version.h"
#include "outputs/finding_markdown.h"
#include "outputs/job_verdicts.h"
#include "outputs/output.h"
#include "outputs/run_json.h"
#include "outputs/verdict_markdown.h"
#include "tables/input.h"
#include "tables/job.h"

namespace debrief::outputs::markdown {

namespace {

constexpr size_t kMostTrouble = 10;
constexpr std::string_view kFile = "verdict.md";

std::string InputsInWords(const Model& model) {
  const auto& inputs = model.tables.Get<InputTable>();
  std::map<std::string_view, std::map<std::string_view, size_t>> kinds;
  for (size_t i = 0; i < inputs.size(); ++i)
    ++kinds[model.pools.Text(inputs.kind[i])][model.pools.Text(inputs.state[i])];
  std::string words;
  for (const auto& [kind, states] : kinds) {
    for (const auto& [state, count] : states)
      words += fmt::format("{}{} {} ({})", words.empty() ? "" : ", ", count, Markdown(kind), state);
  }
  return words.empty() ? "none" : words;
}

std::string AnalysesInWords(const Model& model, AnalysisOutcome::State state) {
  std::string words;
  for (const AnalysisOutcome& outcome : model.analyses) {
    if (outcome.state == state)
      words += fmt::format("{}{}", words.empty() ? "" : ", ", Markdown(outcome.name));
  }
  return words.empty() ? "none" : words;
}

// The same trouble in many inputs is one line.
void AppendTrouble(std::string& out, const Model& model) {
  std::map<std::string_view, std::pair<const DiagnosticKind*, size_t>> kinds;
  for (const Diagnostic& diagnostic : model.diagnostics.all()) {
    if (diagnostic.kind->severity == Severity::kInfo) continue;
    auto& [kind, inputs] = kinds[diagnostic.kind->name];
    kind = diagnostic.kind;
    ++inputs;
  }
  size_t left = kMostTrouble;
  for (const auto& [name, trouble] : kinds) {
    if (left-- == 0) break;
    out += fmt::format("- Trouble in {}: {} ({})\n", Plural(trouble.second, "input"),
                       Markdown(trouble.first->meaning), Markdown(name));
  }
}

void AppendAnalysed(std::string& out, const Model& model) {
  using State = AnalysisOutcome::State;
  std::string list = fmt::format("- Inputs: {}\n", InputsInWords(model));
  list += fmt::format("- Analyses that ran: {}\n", AnalysesInWords(model, State::kRan));
  list += fmt::format("- Not run, for lack of input: {}\n", AnalysesInWords(model, State::kNotRun));
  for (const AnalysisOutcome& outcome : model.analyses) {
    if (outcome.state == State::kFailed)
      list += fmt::format("- Failed: {}: {}\n", Markdown(outcome.name), Markdown(outcome.reason));
  }
  AppendTrouble(list, model);
  AppendFolded(out, "What was analysed, and what was not", list);
}

std::string Verdicts(const Model& model, bool has_picture) {
  std::vector<JobVerdict> verdicts = JobVerdicts(model);
  bool several = verdicts.size() > 1;
  std::string out, silent;
  for (const JobVerdict& verdict : verdicts) {
    if (verdict.findings.empty()) {
      silent += fmt::format("{}{}", silent.empty() ? "" : ", ", Markdown(verdict.name));
      continue;
    }
    if (several) out += fmt::format("## {}\n\n", Markdown(verdict.name));
    out += VerdictMarkdown(model, verdict, {.level = several ? 3 : 2, .has_picture = has_picture});
  }
  if (!silent.empty()) out += fmt::format("## No findings: {}\n\n", silent);
  if (verdicts.empty()) out += "## No inputs were found\n\n";
  return out;
}

Status Write(const Model& model, const OutputContext& context) {
  const bool is_file = context.text == nullptr;
  std::string out = Verdicts(model, is_file && context.has_report && !context.single_file);
  AppendAnalysed(out, model);
  out += fmt::format("debrief {}, findings schema {}\n", kVersion, kFindingsSchema);
  if (is_file) return WriteFileAtomically(PathOf(context, kFile), out);
  context.text->Write(out);
  return {};
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      {"markdown", "the verdict as Markdown: --markdown prints it, --with markdown writes it",
       kFile, kOnRequest},
      Write};
  return kOutput;
}

}  // namespace debrief::outputs::markdown
