// debrief explain OUT [FINDING]: what a finding rests on, and the SQL that shows it.
#include <fmt/format.h>

#include <algorithm>

#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/explain/explained.h"
#include "app/shell_word.h"
#include "app/terminal.h"
#include "base/json/writer.h"
#include "base/text/safe_name.h"
#include "outputs/finding_markdown.h"
#include "outputs/findings_reader.h"
#include "outputs/run_json.h"
#include "outputs/store/store.h"

namespace debrief {

namespace {

std::string ListText(const WrittenFindings& run) {
  std::string text;
  for (const Finding& finding : run.findings) {
    text += fmt::format("{:5} {:8} {:12} {}\n", finding.id, SeverityName(finding.severity),
                        RoleName(finding.role), Printable(finding.headline));
  }
  return text.empty() ? "No findings.\n" : text;
}

std::string ListMarkdown(const WrittenFindings& run) {
  std::string text;
  for (const Finding& finding : run.findings) {
    text += fmt::format("- {} ({}, {}): {}\n", finding.id, SeverityName(finding.severity),
                        RoleName(finding.role), Markdown(finding.headline));
  }
  return text.empty() ? "No findings.\n" : text;
}

std::string ListJson(const WrittenFindings& run) {
  std::string out;
  JsonWriter json(&out, 1);
  json.BeginObject().Field("schema", kFindingsSchema);
  json.Objects("findings", run.findings, [&](const Finding& finding) {
    json.Field("id", finding.id).Field("rule", finding.rule);
    json.Field("severity", SeverityName(finding.severity)).Field("role", RoleName(finding.role));
    json.Field("job", finding.job).Field("headline", finding.headline);
  });
  json.EndObject();
  return out + "\n";
}

Status NoSuchFinding(const ExplainOptions& options, const WrittenFindings& run) {
  std::string there = run.findings.empty()
                          ? "the report has no findings"
                          : fmt::format("there are f1 to f{}", run.findings.size());
  return Status(Code::kUsage, fmt::format("no finding {}: {}", options.finding, there))
      .Remedy(fmt::format("See them all: debrief explain {}", ShellWord(options.output)));
}

Status Fill(Explained& explained, bool is_for_others) {
  outputs::store::OpenOptions open;
  open.external_access = !is_for_others;
  open.locked = is_for_others;
  auto database = outputs::store::OpenStore(explained.folder, open);
  if (!database.ok()) return database.status();
  TRY(outputs::store::CheckRun(explained.folder, database.value()));
  TRY(CheckSameRun(*explained.finding, explained.run->findings.size(), database.value()));
  for (const Evidence& evidence : explained.finding->evidence) {
    ASSIGN_OR_RETURN(EvidenceRows rows, FetchEvidence(evidence, database.value()));
    std::string json = "[]";
    if (!rows.sql.empty()) {
      ASSIGN_OR_RETURN(json, RowsAsJson(rows.sql, database.value()));
    }
    explained.rows.push_back(std::move(rows));
    explained.as_json.push_back(std::move(json));
  }
  return {};
}

Result<std::string> Explain(const ExplainOptions& options, bool json) {
  ASSIGN_OR_RETURN(WrittenFindings run, ReadFindings(options.output));
  if (options.finding.empty())
    return json ? ListJson(run) : options.markdown ? ListMarkdown(run) : ListText(run);
  auto found = std::find_if(run.findings.begin(), run.findings.end(),
                            [&](const Finding& one) { return one.id == options.finding; });
  if (found == run.findings.end()) return NoSuchFinding(options, run);
  Explained explained{.run = &run, .finding = &*found, .folder = options.output};
  TRY(Fill(explained, options.is_for_others));
  if (json) return ExplainedJson(explained);
  return options.markdown ? ExplainedMarkdown(explained)
                          : ExplainedText(explained, TerminalWidth());
}

}  // namespace

int RunExplain(const ExplainOptions& options, const GlobalOptions& global) {
  if (Status status = CheckPaths({&options.output, 1}); !status.ok()) return Fail(status);
  auto text = Explain(options, global.json);
  if (!text.ok()) return Fail(text.status());
  StdoutSink().Write(text.value());
  return 0;
}

}  // namespace debrief
