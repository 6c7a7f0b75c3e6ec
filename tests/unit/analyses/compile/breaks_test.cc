#include <gtest/gtest.h>

#include <string>

#include "tables/compile_blocker.h"
#include "tables/compile_break.h"
#include "tables/compile_failure.h"
#include "tables/compile_guard.h"
#include "tables/compile_progress.h"
#include "unit/analyses/compile/story.h"

namespace debrief::analyses {

namespace compile_recompiles {
const Analysis& Describe();
}
namespace compile_breaks {
const Analysis& Describe();
}
namespace compile_progress {
const Analysis& Describe();
}
namespace compile_guards {
const Analysis& Describe();
}

namespace compile_breaks_test {

constexpr std::string_view kItem =
    "Graph break in user code at /home/me/train.py:66\n"
    "Graph Break Reason: Encountered graph break:\n\n"
    "Unsupported Tensor.item() call\n"
    "  Hint: Set it.\n\n"
    "User code traceback:\n"
    "  File \"/home/me/train.py\", line 64, in f\n    g(x)\n"
    "  File \"/home/me/train.py\", line 66, in g\n    x.item()\n"
    "  File \"/env/site-packages/torch/x.py\", line 9, in item\n";

class CompileBreaks : public ::testing::Test {
 protected:
  std::vector<Finding> Run() {
    log.Run(compile_recompiles::Describe());
    log.Run(compile_progress::Describe());
    log.Run(compile_guards::Describe());
    return log.Run(compile_breaks::Describe());
  }

  void CompileWithBreak(int64_t frame, std::string_view function, int32_t line, double wasted) {
    log.Start(frame, 0, function, line);
    log.Entry("artifact", frame, 0, "dynamo_graph_break_reason", kItem);
    CompileMetricsRow metrics;
    metrics.restart_reasons = 1;
    metrics.dynamo_time_before_restart_s = wasted;
    const size_t end = log.End(frame, 0, function, line, metrics, 1);
    log.Restart(end, "Unsupported Tensor.item() call\n  Hint: Set it.");
  }

  const CompileBreakTable& Breaks() { return log.model().tables.Get<CompileBreakTable>(); }

  CompileStory log;
};

TEST_F(CompileBreaks, SameReasonAtTheSameUserLineIsOne) {
  CompileWithBreak(0, "f", 60, 0.5);
  CompileWithBreak(1, "f2", 70, 0.25);
  CompileMetricsRow resume;
  resume.entire_frame_compile_time_s = 2;
  log.Compile(2, 0, "torch_dynamo_resume_in_f_at_64", 64, resume);
  const auto findings = Run();
  const auto& rows = Breaks();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(log.Text(rows.kind[0]), "graph_break");
  EXPECT_EQ(log.Text(rows.reason[0]), "Unsupported Tensor.item() call");
  EXPECT_EQ(rows.user_line[0], 66);  // not the frame of PyTorch inside of it
  EXPECT_EQ(log.Text(rows.user_function[0]), "g");
  EXPECT_EQ(rows.count[0], 2);
  EXPECT_EQ(log.Text(rows.compile_ids[0]), "0/0, 1/0");
  EXPECT_EQ(log.Text(rows.functions[0]), "f, f2");
  EXPECT_DOUBLE_EQ(rows.wasted_s[0], 0.75);
  EXPECT_DOUBLE_EQ(rows.resume_s[0], 2);
  EXPECT_EQ(rows.resumes[0], 1);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "compile.graph_breaks");
  EXPECT_NE(findings[0].headline.find("train.py:66"), std::string::npos);
  EXPECT_EQ(findings[0].next_step, "Set it.");
}

TEST_F(CompileBreaks, RestartWithoutALoggedBreak) {
  log.Start(0, 0, "f", 60);
  CompileMetricsRow metrics;
  metrics.restart_reasons = 1;
  log.Restart(log.End(0, 0, "f", 60, metrics, 1), "skip function graph_break");
  Run();
  ASSERT_EQ(Breaks().size(), 1u);
  EXPECT_EQ(log.Text(Breaks().kind[0]), "restart");
  EXPECT_EQ(Breaks().user_line[0], 60);
}

TEST_F(CompileBreaks, FailuresAreBreaksOnlyWhenUnsupported) {
  log.Compile(0, 0, "f", 60,
              log.Failed("Unsupported", "Call to graph_break()\n  Hint: Remove it."));
  log.Compile(1, 0, "g", 70, log.Failed("BackendCompilerFailed", "b raised:\nRuntimeError: no"));
  log.Start(2, 0, "h", 80);
  log.Entry("artifact", 2, 0, "dynamo_graph_break_reason", kItem);
  log.End(2, 0, "h", 80, log.Failed("Unsupported", "Unsupported Tensor.item() call"));
  const auto findings = Run();
  ASSERT_EQ(Breaks().size(), 2u);
  EXPECT_EQ(log.Text(Breaks().kind[1]), "failure");
  const auto& failures = log.model().tables.Get<CompileFailureTable>();
  ASSERT_EQ(failures.size(), 3u);
  EXPECT_EQ(log.Text(failures.reason[1]), "b raised: RuntimeError: no");
  EXPECT_FALSE(failures.falls_back[1]);
  EXPECT_TRUE(failures.falls_back[2]);
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[1].severity, Severity::kError);
  EXPECT_EQ(findings[3].severity, Severity::kWarning);
}

TEST_F(CompileBreaks, NothingToTellOfAHealthyLog) {
  for (int32_t rank : {0, 1}) {
    log.Rank(rank);
    log.Compile(0, 0, "f", 60);
    log.Recompile(0, 1, "f", 60, "0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3");
  }
  EXPECT_TRUE(log.Run(compile_recompiles::Describe()).empty());
  EXPECT_TRUE(log.Run(compile_breaks::Describe()).empty());
}

TEST_F(CompileBreaks, ProgressAndBlockers) {
  log.Compile(0, 0, "f", 10);
  log.Compile(0, 1, "f", 10, log.Failed("Broken", "later"));  // a graph is there: still whole
  CompileWithBreak(1, "g", 20, 0.5);
  CompileWithBreak(2, "h", 30, 0.5);
  log.Compile(3, 0, "i", 40, log.Failed("Broken", "never"));
  CompileMetricsRow nothing;
  nothing.graph_op_count = 0;
  log.Compile(4, 0, "j", 50, nothing);
  log.Start(5, 0, "k", 60);
  Run();
  const auto& rows = log.model().tables.Get<CompileProgressTable>();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.frames[0], 6);
  EXPECT_EQ(rows.whole[0], 1);
  EXPECT_EQ(rows.broken[0], 2);
  EXPECT_EQ(rows.failed[0], 1);
  EXPECT_EQ(rows.empty[0], 1);
  EXPECT_EQ(rows.unfinished[0], 1);
  EXPECT_EQ(rows.ops[0], 9);
  EXPECT_DOUBLE_EQ(rows.share[0], 0.2);
  const auto& blockers = log.model().tables.Get<CompileBlockerTable>();
  ASSERT_EQ(blockers.size(), 4u);
  EXPECT_EQ(log.Text(blockers.kind[0]), "graph_break");
  EXPECT_EQ(blockers.frames[0], 2);
  EXPECT_EQ(blockers.user_line[0], 66);
  EXPECT_EQ(log.Text(blockers.functions[0]), "g, h");
}

TEST_F(CompileBreaks, GuardsThatFailedComeFirst) {
  log.Entry("dynamo_cpp_guards_str", 0, 0, {},
            "+- RootGuardManager\n"
            "| +- GLOBAL_STATE: ___check_global_state()\n"
            "| +- GuardManager: source=L['x'], accessed_by=A\n"
            "| | +- TENSOR_MATCH: check_tensor(L['x'], Tensor)\n"
            "| +- GuardManager: source=L['k'], accessed_by=A\n"
            "| | +- EQUALS_MATCH: L['k'] == 1    # y = k  # train.py:7 in f\n");
  log.Compile(0, 0, "f", 10);
  log.Recompile(0, 1, "f", 10, "0/0: k == 1");
  log.Recompile(0, 2, "f", 10, "0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3");
  log.Recompile(0, 3, "f", 10, "0/0: k == 1");
  Run();
  const auto& rows = log.model().tables.Get<CompileGuardTable>();
  std::string found;
  for (size_t i = 0; i < rows.size(); ++i)
    found += log.Text(rows.kind[i]) + "=" + std::to_string(rows.failed[i]) + " ";
  EXPECT_EQ(found, "TENSOR_MATCH=1 EQUALS_MATCH=2 GLOBAL_STATE=0 ");
  EXPECT_EQ(rows.line[1], 7);
}

TEST_F(CompileBreaks, OlderGuardsAreJson) {
  log.Entry("dynamo_guards", 0, 0, {},
            "[{\"code\": \"k == 1  # y  # a.py:3 in f\"}, {\"code\": \"");
  log.Compile(0, 0, "f", 10);
  log.Entry("dynamo_guards", 1, 0, {}, "[{\"code\": \"k == 1  # y  # a.py:3 in f\"}]");
  log.Compile(1, 0, "g", 20);
  Run();
  const auto& rows = log.model().tables.Get<CompileGuardTable>();
  ASSERT_GE(rows.size(), 1u);
  EXPECT_EQ(log.Text(rows.guard[rows.size() - 1]), "k == 1");
  EXPECT_EQ(log.Text(rows.kind[rows.size() - 1]), "python");
}

}  // namespace compile_breaks_test
}  // namespace debrief::analyses
