#include "model/model.h"

#include "tables/analysis.h"
#include "tables/diagnostic.h"
#include "tables/finding.h"
#include "tables/input.h"

namespace debrief {

namespace {

void RecordDiagnostic(Model& model, const Diagnostic& diagnostic) {
  DiagnosticRow row;
  if (diagnostic.input != kNone32) {
    const auto& inputs = model.tables.Get<InputTable>();
    auto input = static_cast<size_t>(diagnostic.input);
    row.job = inputs.job[input];
    row.attempt = inputs.attempt[input];
    row.rank = inputs.rank[input];
    row.path = inputs.path[input];
  }
  row.input = diagnostic.input;
  row.name = model.pools.Intern(diagnostic.kind->name);
  row.severity = model.pools.Intern(SeverityName(diagnostic.kind->severity));
  row.count = diagnostic.count;
  if (!diagnostic.first.empty()) {
    const Occurrence& first = diagnostic.first.front();
    if (first.offset >= 0) row.byte = first.offset;
    if (first.line >= 0) row.line = first.line;
    if (!first.detail.empty()) row.detail = model.pools.Intern(first.detail);
  }
  row.remedy = model.pools.Intern(diagnostic.kind->remedy);
  model.tables.Edit<DiagnosticTable>().Add(row);
}

void RecordFinding(Model& model, const Finding& finding, const std::string& explained_by) {
  auto text = [&](std::string_view value) { return model.pools.InternOrNone(value); };
  FindingRow row;
  row.job = finding.job;
  row.attempt = finding.attempt;
  if (finding.ranks.size() == 1) row.rank = finding.ranks.front();
  row.finding = text(finding.id);
  row.rule = text(finding.rule);
  row.severity = text(SeverityName(finding.severity));
  row.role = text(RoleName(finding.role));
  row.headline = text(finding.headline);
  std::vector<int64_t> ranks(finding.ranks.begin(), finding.ranks.end());
  row.ranks = model.pools.lists.Intern(ranks);
  row.op = text(finding.op);
  row.seq = finding.seq;
  row.confidence = finding.confidence;
  row.why = text(finding.why);
  row.next_step = text(finding.next_step);
  row.explained_by = text(explained_by);
  model.tables.Edit<FindingTable>().Add(row);
}

}  // namespace

std::string_view StateName(AnalysisOutcome::State state) {
  switch (state) {
    case AnalysisOutcome::State::kRan:
      return "ran";
    case AnalysisOutcome::State::kNotRun:
      return "not run";
    case AnalysisOutcome::State::kFailed:
      return "failed";
  }
  return "ran";
}

void Part::Append(Part&& part) {
  Remap remap = pools.Absorb(part.pools);
  tables.Append(std::move(part.tables), remap);
  diagnostics.Append(part.diagnostics);
}

void RecordOutcome(Model& model) {
  for (const Diagnostic& diagnostic : model.diagnostics.all()) RecordDiagnostic(model, diagnostic);
  std::vector<std::string> explained_by(model.findings.size());
  for (const Finding& finding : model.findings) {
    for (size_t explained : finding.explains) explained_by[explained] = finding.id;
  }
  for (size_t i = 0; i < model.findings.size(); ++i) {
    RecordFinding(model, model.findings[i], explained_by[i]);
  }
  for (const AnalysisOutcome& outcome : model.analyses) {
    AnalysisRow row;
    row.analysis = model.pools.Intern(outcome.name);
    row.state = model.pools.Intern(StateName(outcome.state));
    if (!outcome.reason.empty()) row.reason = model.pools.Intern(outcome.reason);
    row.findings = outcome.findings;
    model.tables.Edit<AnalysisTable>().Add(row);
  }
}

}  // namespace debrief
