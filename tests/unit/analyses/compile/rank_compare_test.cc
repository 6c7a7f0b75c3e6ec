// Ranks that compiled something else, and ranks that only look so.
#include "analyses/compile/rank_compare/rank_compare.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tables/compile_first_difference.h"
#include "tables/compile_overlap.h"
#include "tables/compile_rank_only.h"
#include "tables/compile_rank_time.h"
#include "unit/analyses/compile/event_builder.h"

namespace debrief::analyses {

namespace compile_time {
const Analysis& Describe();
}
namespace compile_rank_compare {

const Analysis& Describe();

namespace compile_rank_compare_test {

std::string Normalised(std::string_view text) {
  std::string out;
  AppendNormalised(text, out);
  return out;
}

std::vector<Finding> Compare(CompileLogBuilder& log) {
  log.Run(compile_time::Describe());
  return log.Run(Describe());
}

// A compilation of `function` with a graph.
void AddCompilation(CompileLogBuilder& log, std::string_view function, int64_t frame,
                    std::string_view graph = "g", int64_t ms = 0) {
  AddStart(log, function, 10, frame, 0, ms);
  log.Add({.payload = graph, .frame = frame, .kind = "dynamo_output_graph"});
  auto& entries = log.model().tables.Edit<CompileEntryTable>();
  entries.life[entries.size() - 1] = 0;
  entries.time_ns[entries.size() - 1] = (ms + 1) * 1'000'000;
}

TEST(CompileRankCompare, NormalisesWhatDiffersBetweenEqualRanks) {
  EXPECT_EQ(Normalised("at 0x7fA3 and 0xg"), "at # and 0xg");
  EXPECT_EQ(Normalised("f32[32, 512]cuda:3, xpu:12 cpu"), "f32[32, 512]cuda:#, xpu:# cpu");
  EXPECT_EQ(Normalised("'/tmp/torchinductor_me/a/b.py' /home/a.py:3"), "'#' /home/a.py:3");
  EXPECT_EQ(Normalised("id 140234876223344, 12345678"), "id #, 12345678");
  EXPECT_EQ(Normalised("primals_1234567890 a/b 0"), "primals_1234567890 a/b 0");
  EXPECT_EQ(Normalised("0x"), "0x");
  EXPECT_EQ(Normalised("/"), "/");
}

TEST(CompileRankCompare, TellsTheFirstLineThatDiffers) {
  EXPECT_EQ(FirstDifference("a\nb\nc", "a\nx\nc"), "line 2: `b` there, `x` here");
  EXPECT_EQ(FirstDifference("a", "a\nb"), "line 2: nothing there, `b` here");
  EXPECT_EQ(FirstDifference("a\nb", "a\nb"), "");
  const std::string long_line(1000, 'y');
  const std::string told = FirstDifference(long_line + "1", long_line + "2");
  EXPECT_LT(told.size(), 300u);
  EXPECT_NE(told.find("1` there"), std::string_view::npos) << told;
  EXPECT_NE(told.find("2` here"), std::string_view::npos) << told;
}

TEST(CompileRankCompare, TheFewAreToBlame) {
  using Ranks = std::vector<int32_t>;
  EXPECT_EQ(Few({3}, {0, 1, 2, 3}), Ranks({3}));
  EXPECT_EQ(Few({0, 1, 2}, {0, 1, 2, 3}), Ranks({3}));
  EXPECT_EQ(Few({0, 1}, {0, 1, 2, 3}), Ranks());
  EXPECT_EQ(Few({0, 1}, {0, 1, 2, 3, 4, 5, 6, 7}), Ranks({0, 1}));
  EXPECT_EQ(Few({0, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7}), Ranks());
  EXPECT_EQ(Few({0}, {0, 1}), Ranks({1}));
  EXPECT_EQ(Few({0, 1}, {0, 1}), Ranks());
}

TEST(CompileRankCompare, AnExtraCompilationBlamesItsRankWhateverTheIds) {
  CompileLogBuilder log;
  for (int32_t rank : {0, 1, 2, 3}) {
    log.Log(rank);
    if (rank == 2) AddCompilation(log, "extra", 0);
    AddCompilation(log, "stage", rank == 2 ? 1 : 0);
  }
  auto findings = Compare(log);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "compile.rank_differs");
  EXPECT_EQ(findings[0].ranks, std::vector<int32_t>({2}));
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].headline, "Rank 2 alone compiles function extra (file.py:10)");
  const auto& only = log.model().tables.Get<CompileRankOnlyTable>();
  ASSERT_EQ(only.size(), 1u);
  EXPECT_EQ(log.model().pools.lists.Get(only.missing[0]).size(), 3u);
  const auto& first = log.model().tables.Get<CompileFirstDifferenceTable>();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first.rank_b[0], 2);
  EXPECT_EQ(first.entry_a[0], kNone64);
}

TEST(CompileRankCompare, ARankThatDidNotCompileIsNamed) {
  CompileLogBuilder log;
  for (int32_t rank : {0, 1, 2}) {
    log.Log(rank);
    AddCompilation(log, "stage", 0, "g", 5);
    if (rank != 1) AddCompilation(log, "other", 1, "g", 3);
  }
  auto findings = Compare(log);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].headline,
            "Rank 1 does not compile function other (file.py:10), which all other ranks do");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
}

TEST(CompileRankCompare, ALogThatEndsEarlierIsAWeakReason) {
  CompileLogBuilder log;
  for (int32_t rank : {0, 1, 2}) {
    log.Log(rank);
    AddCompilation(log, "stage", 0, "g", 5);
    if (rank != 1) AddCompilation(log, "other", 1, "g", 500);
  }
  auto findings = Compare(log);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kInfo);
}

TEST(CompileRankCompare, RanksOfAPipelineBlameNobody) {
  CompileLogBuilder log;
  for (int32_t rank : {0, 1, 2, 3}) {
    log.Log(rank);
    AddCompilation(log, rank < 2 ? "first" : "last", 0);
    AddCompilation(log, "all", 1, rank < 2 ? "one" : "two");
  }
  EXPECT_TRUE(Compare(log).empty());
  EXPECT_EQ(log.model().tables.Get<CompileRankOnlyTable>().size(), 2u);
}

TEST(CompileRankCompare, OneRankWithAnotherGraphIsNamedWithTheLine) {
  CompileLogBuilder log;
  for (int32_t rank : {0, 1, 2, 3}) {
    log.Log(rank);
    AddCompilation(log, "stage", 0,
                   fmt::format("x = 0x{}0\nmul({})cuda:{}", rank, rank == 3 ? 7 : 5, rank));
  }
  auto findings = Compare(log);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].headline,
            "Rank 3 compiles another graph for function stage (file.py:10) than the other ranks");
  const auto& first = log.model().tables.Get<CompileFirstDifferenceTable>();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(log.model().pools.Text(first.difference[0]),
            "line 2: `mul(5)cuda:#` there, `mul(7)cuda:#` here");
}

TEST(CompileRankCompare, CachesMakeNoDifference) {
  CompileLogBuilder log;
  for (int32_t rank : {0, 1, 2, 3}) {
    log.Log(rank);
    AddCompilation(log, "stage", 0);
    log.Add({.name = rank == 2 ? "fx_graph_cache_miss" : "fx_graph_cache_hit", .payload = "{}"});
    if (rank == 2) log.Add({.name = "before_post_grad_graph", .payload = "more"});
  }
  EXPECT_TRUE(Compare(log).empty());
}

TEST(CompileRankCompare, OfTwoRanksBothAreNamed) {
  CompileLogBuilder log;
  for (int32_t rank : {0, 1}) {
    log.Log(rank);
    AddCompilation(log, "stage", 0);
    if (rank == 1) AddCompilation(log, "extra", 1);
  }
  auto findings = Compare(log);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].ranks, std::vector<int32_t>({0, 1}));
  EXPECT_EQ(findings[0].role, Role::kObservation);
}

TEST(CompileRankCompare, TellsWhoCompilesWhileOthersWait) {
  CompileLogBuilder log;
  for (int32_t rank : {0, 1, 2}) {
    log.Log(rank);
    AddEvent(log, {"B", "dynamo", 0});
    AddEvent(log, {"E", "dynamo", rank == 1 ? 30000 : 2000});
  }
  auto findings = Compare(log);
  const auto& times = log.model().tables.Get<CompileRankTimeTable>();
  ASSERT_EQ(times.size(), 3u);
  EXPECT_DOUBLE_EQ(times.seconds[1], 30);
  EXPECT_DOUBLE_EQ(times.alone_s[1], 28);
  EXPECT_DOUBLE_EQ(times.while_others_idle_s[1], 28);
  EXPECT_DOUBLE_EQ(times.alone_s[0], 0);
  EXPECT_DOUBLE_EQ(times.share_of_slowest[0], 2.0 / 30);
  const auto& sets = log.model().tables.Get<CompileOverlapTable>();
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets.waiting[0], 2);
  EXPECT_DOUBLE_EQ(sets.seconds[0], 28);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "compile.rank_slow");
  EXPECT_EQ(findings[0].ranks, std::vector<int32_t>({1}));
}

}  // namespace compile_rank_compare_test
}  // namespace compile_rank_compare
}  // namespace debrief::analyses
