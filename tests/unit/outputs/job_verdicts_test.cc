// Findings by job, as Markdown, and read back from findings.json.
#include "outputs/job_verdicts.h"

#include <gtest/gtest.h>

#include <fstream>

#include "outputs/finding_markdown.h"
#include "outputs/findings_reader.h"
#include "outputs/run_json.h"
#include "tables/job.h"
#include "unit/base/bytes/stream_helpers.h"

namespace debrief {
namespace job_verdicts_test {

void AddJobs(Model& model, int32_t count) {
  for (int32_t job = 0; job < count; ++job) {
    StringId name = model.pools.Intern("job" + std::to_string(job));
    model.tables.Edit<JobTable>().Add({job, name, 8, 1, 8});
  }
}

Finding& Add(Model& model, int32_t job, Severity severity, Role role) {
  Finding& finding = model.findings.emplace_back();
  finding.job = job;
  finding.severity = severity;
  finding.role = role;
  finding.rule = "test.rule";
  finding.headline = "job " + std::to_string(job);
  finding.id = "f" + std::to_string(model.findings.size());
  return finding;
}

TEST(JobVerdicts, WorstFirstAndConsequencesFolded) {
  Model model;
  AddJobs(model, 4);
  Add(model, 2, Severity::kWarning, Role::kCause);
  Add(model, 1, Severity::kError, Role::kCause).explains = {2};
  Add(model, 1, Severity::kInfo, Role::kConsequence);
  Add(model, 3, Severity::kError, Role::kObservation);
  std::vector<JobVerdict> verdicts = JobVerdicts(model);
  ASSERT_EQ(verdicts.size(), 4U);
  EXPECT_EQ(verdicts[0].name, "job1");
  EXPECT_EQ(verdicts[0].findings, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(verdicts[0].told, 1U);
  EXPECT_EQ(verdicts[1].name, "job3");
  EXPECT_EQ(verdicts[2].name, "job2");
  EXPECT_EQ(verdicts[3].name, "job0");
  EXPECT_TRUE(verdicts[3].findings.empty());
}

TEST(JobVerdicts, FindingsOfNoJob) {
  Model one;
  AddJobs(one, 1);
  Add(one, kNone32, Severity::kError, Role::kCause);
  ASSERT_EQ(JobVerdicts(one).size(), 1U) << "there is no other job it could be of";
  Model two;
  AddJobs(two, 2);
  Add(two, kNone32, Severity::kError, Role::kCause);
  ASSERT_EQ(JobVerdicts(two).size(), 3U);
  EXPECT_EQ(JobVerdicts(two)[0].name, "not assigned to a job");
  EXPECT_EQ(JobVerdicts(two, "other.")[0].findings.size(), 0U);
}

TEST(FindingsReader, ReadsWhatWasWritten) {
  Model model;
  AddJobs(model, 2);
  Add(model, 1, Severity::kError, Role::kCause).explains = {1};
  Add(model, 1, Severity::kInfo, Role::kConsequence);
  Finding& first = model.findings[0];
  first.ranks = {3, 5};
  first.groups = {{"4", "mesh_dp", {3, 7}}};
  first.op = "all_reduce";
  first.seq = 16;
  first.compile_ids = {"0/1"};
  first.source = {{.rank = 3, .file = "a \"b\".py", .line = 52}};
  first.evidence = {{"text", "comm_op", {7, 9}}};
  first.confidence = 0.5;
  testing::TempFolder folder;
  std::ofstream(folder.path() + "/findings.json") << RunJson(model, 1);
  auto written = ReadFindings(folder.path());
  ASSERT_TRUE(written.ok()) << written.status().ToString();
  EXPECT_EQ(written->jobs.at(1), "job1");
  Model again;
  AddJobs(again, 2);
  again.findings = written->findings;
  EXPECT_EQ(RunJson(again, 1), RunJson(model, 1));
}

TEST(FindingsReader, SaysWhatIsWrong) {
  testing::TempFolder folder;
  EXPECT_EQ(ReadFindings(folder.path()).status().code(), Code::kNotFound);
  auto code_of = [&](std::string_view text) {
    std::ofstream(folder.path() + "/findings.json") << text;
    return ReadFindings(folder.path()).status().code();
  };
  EXPECT_EQ(code_of("{\"schema\": 99}"), Code::kUnsupported);
  EXPECT_EQ(code_of("{\"a\": 1}"), Code::kInvalid);
  EXPECT_EQ(code_of("{\"schema\": 1, \"findings\": 5}"), Code::kInvalid);
  EXPECT_NE(code_of("{\"schema\": 1, \"findings\": ["), Code::kOk);
  EXPECT_NE(code_of(""), Code::kOk);
}

TEST(FindingMarkdown, FencesAndFolds) {
  std::string out;
  AppendCodeBlock(out, "sql", "SELECT '```'");
  EXPECT_EQ(out, "````sql\nSELECT '```'\n````\n\n");
  out.clear();
  AppendFolded(out, "a < b", "- x\n");
  EXPECT_EQ(out, "<details>\n<summary>a &lt; b</summary>\n\n- x\n\n</details>\n\n");
}

}  // namespace job_verdicts_test
}  // namespace debrief
