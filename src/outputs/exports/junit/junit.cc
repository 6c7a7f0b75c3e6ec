// Output "junit": findings as the results of tests, for CI systems that show those.
//
//   <testsuites><testsuite name="JOB"><testcase classname="RULE" name="HEADLINE"><failure .../>
//
// Errors and warnings fail, notes pass with their text, and what follows from another finding is
// skipped: it would count the same fault twice. A job without findings has one test that passes.
#include <fmt/format.h>

#include <map>
#include <vector>

#include "base/bytes/growing_file.h"
#include "base/text/escape.h"
#include "base/text/rank_list.h"
#include "base/version.h"
#include "outputs/output.h"
#include "tables/job.h"

namespace debrief::outputs::junit {

namespace {

constexpr std::string_view kFile = "junit.xml";

// XML has no form for U+FFFE and U+FFFF either.
std::string Xml(std::string_view text) {
  std::string out;
  AppendHtml(out, text);
  for (const std::string_view none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (size_t at = 0; (at = out.find(none, at)) != std::string::npos; ++at)
      out.replace(at, none.size(), "\xEF\xBF\xBD");
  }
  return out;
}

struct Suite {
  std::string name;
  std::vector<const Finding*> findings;
  size_t failures = 0, skipped = 0;

  size_t tests() const { return findings.empty() ? 1 : findings.size(); }
};

bool IsFailure(const Finding& finding) {
  return finding.role != Role::kConsequence && finding.severity != Severity::kInfo;
}

// One suite a job, and one for what concerns none.
std::vector<Suite> SuitesOf(const Model& model) {
  const auto& jobs = model.tables.Get<JobTable>();
  std::vector<Suite> suites;
  std::map<int32_t, size_t> by_job;
  for (size_t row = 0; row < jobs.size(); ++row) {
    by_job[jobs.job[row]] = suites.size();
    suites.push_back({.name = std::string(model.pools.Text(jobs.name[row])), .findings = {}});
  }
  for (const Finding& finding : model.findings) {
    auto [place, is_new] = by_job.try_emplace(finding.job, suites.size());
    if (is_new) suites.push_back({.name = "", .findings = {}});
    Suite& suite = suites[place->second];
    suite.findings.push_back(&finding);
    suite.failures += IsFailure(finding);
    suite.skipped += finding.role == Role::kConsequence;
  }
  return suites;
}

std::string TextOf(const Finding& finding) {
  std::string text = finding.headline + "\n";
  if (!finding.ranks.empty()) text += fmt::format("ranks: {}\n", FoldNumbers(finding.ranks));
  for (const SourceLine& line : finding.source)
    text += fmt::format("at {}:{}\n", line.file, line.line);
  for (const Evidence& evidence : finding.evidence)
    text += fmt::format("evidence: {}\n", evidence.text);
  if (!finding.next_step.empty()) text += fmt::format("next: {}\n", finding.next_step);
  return text;
}

std::string CaseOf(const Finding& finding) {
  std::string out = fmt::format("    <testcase classname=\"{}\" name=\"{}: {}\" time=\"0\">\n",
                                Xml(finding.rule), finding.id, Xml(finding.headline));
  if (finding.role == Role::kConsequence) {
    out += "      <skipped message=\"follows from another finding\"/>\n";
  } else if (IsFailure(finding)) {
    out += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                       SeverityName(finding.severity), Xml(finding.headline), Xml(TextOf(finding)));
  } else {
    out += fmt::format("      <system-out>{}</system-out>\n", Xml(TextOf(finding)));
  }
  return out + "    </testcase>\n";
}

std::string SuiteText(const Suite& suite) {
  std::string out = fmt::format(
      "  <testsuite name=\"debrief {}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" "
      "time=\"0\">\n",
      Xml(suite.name), suite.tests(), suite.failures, suite.skipped);
  for (const Finding* finding : suite.findings) out += CaseOf(*finding);
  if (suite.findings.empty())
    out += "    <testcase classname=\"debrief\" name=\"no findings\" time=\"0\"/>\n";
  return out + "  </testsuite>\n";
}

Status Write(const Model& model, const OutputContext& context) {
  const std::string path = PathOf(context, kFile);
  if (path.empty()) return {};
  std::string body;
  size_t tests = 0, failures = 0, skipped = 0;
  for (const Suite& suite : SuitesOf(model)) {
    body += SuiteText(suite);
    tests += suite.tests();
    failures += suite.failures;
    skipped += suite.skipped;
  }
  return WriteFileAtomically(
      path, fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<testsuites name=\"debrief {}\" tests=\"{}\" failures=\"{}\" "
                        "errors=\"0\" skipped=\"{}\" time=\"0\">\n{}</testsuites>\n",
                        kVersion, tests, failures, skipped, body));
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      {"junit", "findings as the results of tests (JUnit XML), for CI", kFile, kOnRequest}, Write};
  return kOutput;
}

}  // namespace debrief::outputs::junit
