#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tables/compilation.h"
#include "tables/compile_frame_group.h"
#include "tables/compile_orphan.h"
#include "tables/compile_recompile.h"
#include "unit/analyses/compile/story.h"

namespace debrief::analyses::compile_recompiles {

const Analysis& Describe();

namespace compile_recompiles_test {

class CompileRecompiles : public ::testing::Test {
 protected:
  std::vector<Finding> Run() { return log.Run(Describe()); }

  // "0/0:ok 0/1<0/0:failed"
  std::string Outcomes() {
    const auto& rows = log.model().tables.Get<CompilationTable>();
    std::string text;
    for (size_t i = 0; i < rows.size(); ++i) {
      text += log.Text(rows.compile_id[i]);
      if (rows.previous_id[i] != StringId::kNone) text += "<" + log.Text(rows.previous_id[i]);
      text += ":" + log.Text(rows.outcome[i]) + " ";
    }
    return text;
  }

  const CompileRecompileTable& Recompiles() {
    return log.model().tables.Get<CompileRecompileTable>();
  }

  CompileStory log;
};

TEST_F(CompileRecompiles, OutcomesOfCompilations) {
  log.Compile(0, 0, "f", 10);
  log.Start(1, 0, "g", 20);
  const size_t end = log.End(1, 0, "g", 20, {.restart_reasons = 1}, 1);
  log.Restart(end, "Unsupported thing\n  Explanation: no");
  CompileMetricsRow nothing;
  nothing.graph_op_count = 0;
  log.Compile(2, 0, "h", 30, nothing);
  log.Compile(0, 1, "f", 10, log.Failed("Unsupported", "why\nmore"));
  log.Entry("artifact", 7, 0, "fx_graph_runnable");  // neither begun nor ended here
  log.Start(3, 0, "i", 40);
  const auto findings = Run();
  EXPECT_EQ(Outcomes(), "0/0:ok 1/0:restarted 2/0:empty 0/1<0/0:failed 3/0:unfinished ");
  const auto& rows = log.model().tables.Get<CompilationTable>();
  EXPECT_EQ(log.Text(rows.break_reason[1]), "Unsupported thing");
  EXPECT_EQ(rows.restarts[1], 1);
  EXPECT_EQ(log.Text(rows.fail_reason[3]), "why");
  EXPECT_EQ(log.Text(rows.function[4]), "i");
  EXPECT_EQ(rows.line[4], 40);
  EXPECT_EQ(rows.caller_line[4], 90);
  EXPECT_TRUE(rows.is_last[4]);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "compile.unfinished");
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_NE(findings[0].headline.find("i (train.py:40)"), std::string::npos);
}

TEST_F(CompileRecompiles, UnfinishedIsNoErrorWhenTheProcessWentOn) {
  log.Start(0, 0, "f", 10);
  log.Compile(1, 0, "g", 20);
  const auto findings = Run();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
}

TEST_F(CompileRecompiles, LivesAndRanksAreKeptApart) {
  log.Compile(0, 0, "f", 10);
  log.life = 1;
  log.Compile(0, 0, "f", 10, log.Failed("Broken", "x"));
  log.life = 0;
  log.Rank(1);
  log.Start(0, 0, "f", 10);
  Run();
  EXPECT_EQ(Outcomes(), "0/0:ok 0/0:failed 0/0:unfinished ");
}

TEST_F(CompileRecompiles, NewValueFromTheSymbol) {
  log.Compile(0, 0, "f", 10);
  log.Symbol(0, 1, "s7", "L['k']", "2");
  log.Recompile(0, 1, "f", 10, "0/0: k == 1       # y = k  # train.py:12 in f");
  Run();
  const auto& rows = Recompiles();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(log.Text(rows.kind[0]), "value");
  EXPECT_EQ(log.Text(rows.old_value[0]), "1");
  EXPECT_EQ(log.Text(rows.new_value[0]), "2");
  EXPECT_EQ(log.Text(rows.symbol[0]), "s7");
  EXPECT_EQ(rows.user_line[0], 12);
  EXPECT_EQ(log.Text(log.model().tables.Get<CompilationTable>().why[1]), "k was 1, now 2");
}

TEST_F(CompileRecompiles, NewValueFromTheGuardsOfTheNewCompilation) {
  log.Compile(0, 0, "f", 10);
  log.Entry("dynamo_cpp_guards_str", 0, 1, {},
            "| +- TYPE_MATCH: ___check_type_id(L['k'], 7), type=<class 'float'>  # y\n"
            "| +- FALSE_MATCH: L['flag'] == False    # y\n");
  log.Recompile(
      0, 1, "f", 10,
      "[\n\"0/0: ___check_type_id(k, 9), type=<class 'int'>\",\n\"0/0: flag == True\"\n]");
  Run();
  const auto& rows = Recompiles();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(log.Text(rows.change[0]), "type of k was int, now float");
  EXPECT_EQ(log.Text(rows.change[1]), "flag was True, now False");
}

TEST_F(CompileRecompiles, OldAndNewSizeFromDescribedTensors) {
  log.Tensor(0, 0, "L['x']", "[4, 64]");
  log.Compile(0, 0, "f", 10);
  log.Tensor(0, 1, "L['x']", "[4, 48]");
  log.Recompile(0, 1, "f", 10, "0/0: Mod(x.size()[1], 64) == 0");
  Run();
  const auto& rows = Recompiles();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(log.Text(rows.change[0]), "size of x at dimension 1 was 64, now 48");
  EXPECT_EQ(log.Text(rows.next_step[0]),
            "Call `torch._dynamo.mark_dynamic(x, 1)` before the call at /home/me/train.py:90.");
}

TEST_F(CompileRecompiles, MainChangeIsThatOfMostCompilations) {
  log.Compile(0, 0, "f", 10);
  log.Recompile(0, 1, "f", 10, "0/0: k == 1");
  log.Recompile(0, 2, "f", 10, "[\"0/1: k == 2\", \"0/0: flag == True\"]");  // a tie: the first
  log.Recompile(0, 3, "f", 10, "[\"0/2: k == 3\", \"0/1: flag == True\", \"0/0: flag == True\"]");
  Run();
  const auto& rows = Recompiles();
  std::string main;
  for (size_t i = 0; i < rows.size(); ++i) main += rows.is_main[i] ? '1' : '0';
  EXPECT_EQ(main, "110010");
  const auto& groups = log.model().tables.Get<CompileFrameGroupTable>();
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups.compilations[0], 4);
  EXPECT_EQ(groups.recompilations[0], 3);
  EXPECT_EQ(log.Text(groups.why[0]), "value of L['k'] (2), flag of L['flag'] (1)");
}

TEST_F(CompileRecompiles, BrokenJsonIsKeptAsText) {
  log.Compile(0, 0, "f", 10);
  log.Recompile(0, 1, "f", 10, "[\"0/0: k == 1\", ");
  Run();
  ASSERT_EQ(Recompiles().size(), 1u);
  EXPECT_EQ(log.Text(Recompiles().reason[0]), "[\"0/0: k == 1\", ");
}

TEST_F(CompileRecompiles, ReasonOfMetricsWhenThereIsNoArtifact) {
  log.Compile(0, 0, "f", 10);
  CompileMetricsRow again;
  again.recompile_reason = log.pools().Intern("0/0: k == 1");
  log.Compile(0, 1, "f", 10, again);
  Run();
  ASSERT_EQ(Recompiles().size(), 1u);
  EXPECT_EQ(log.Text(Recompiles().previous_id[0]), "0/0");
}

class Storms : public CompileRecompiles, public ::testing::WithParamInterface<int> {
 protected:
  std::string RuleAfter(int recompilations) {
    log.Compile(0, 0, "f", 10);
    for (int i = 1; i <= recompilations; ++i)
      log.Recompile(0, i, "f", 10, fmt::format("0/{}: k == {}", i - 1, i - 1));
    const auto findings = Run();
    return findings.empty() ? "" : findings[0].rule;
  }
};

TEST_P(Storms, ThresholdsOfFindings) {
  const int count = GetParam();
  const std::string expected = count == 7   ? "compile.recompile_limit"
                               : count >= 4 ? "compile.recompile_storm"
                                            : "";
  EXPECT_EQ(RuleAfter(count), expected);
}

INSTANTIATE_TEST_SUITE_P(Counts, Storms, ::testing::Values(0, 1, 3, 4, 6, 7, 8, 20));

TEST_F(CompileRecompiles, ExceptionThatNamesTheLimit) {
  log.Compile(0, 0, "f", 10,
              log.Failed("FailOnRecompileLimitHit", "recompile_limit reached with fullgraph=True"));
  const auto findings = Run();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "compile.recompile_limit");
}

TEST_F(CompileRecompiles, RanksThatTellTheSameAreOneFinding) {
  for (int32_t rank : {1, 0}) {
    log.Rank(rank);
    log.Compile(0, 0, "f", 10);
    for (int i = 1; i <= 4; ++i) log.Recompile(0, i, "f", 10, "0/0: k == 1");
  }
  const auto findings = Run();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].ranks, (std::vector<int32_t>{0, 1}));
}

TEST_F(CompileRecompiles, IdsComeAgainAfterAReset) {
  log.Compile(0, 0, "f", 10);
  log.Compile(0, 1, "f", 10);
  log.Compile(0, 0, "f", 10, log.Failed("Unsupported", "why"));
  log.Start(1, 0, "g", 20);
  Run();
  EXPECT_EQ(Outcomes(), "0/0:ok 0/1<0/0:ok 0/0:failed 1/0:unfinished ");
}

TEST_F(CompileRecompiles, OrphansBelongToWhatIsOpenOnTheirThread) {
  log.Orphan("artifact");
  log.Start(0, 0, "f", 10);
  log.Orphan("graph_dump");
  log.thread = 2;
  log.Orphan("artifact");
  log.thread = 1;
  log.Orphan("chromium_event");  // left out
  log.End(0, 0, "f", 10);
  log.Orphan("link");
  Run();
  const auto& rows = log.model().tables.Get<CompileOrphanTable>();
  std::string found;
  for (size_t i = 0; i < rows.size(); ++i)
    found += log.Text(rows.kind[i]) + "=" + log.Text(rows.inferred_compile_id[i]) + " ";
  EXPECT_EQ(found, "artifact= graph_dump=0/0 artifact= link= ");
}

}  // namespace compile_recompiles_test
}  // namespace debrief::analyses::compile_recompiles
