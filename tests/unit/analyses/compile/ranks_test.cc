// Ranks that compiled the same, and ranks that did not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tables/compile_divergence.h"
#include "tables/compile_order.h"
#include "tables/compile_rank_check.h"
#include "tables/compile_runtime_delta.h"
#include "unit/analyses/compile/log_builder.h"

namespace debrief::analyses {

namespace compile_artifacts {
const Analysis& Describe();
}
namespace compile_ranks {

const Analysis& Describe();

namespace compile_ranks_test {

constexpr std::string_view kSchedule = "inductor_collective_schedule";
constexpr std::string_view kRuntime = "inductor_runtime_and_tensor_meta";
constexpr std::string_view kOrder = "graph_execution";

std::string Runtime(double ns, int shape = 4) {
  return fmt::format(R"({{"ops": [{{"name": "mm", "estimated_runtime_ns": {}, "out": [{}]}}]}})",
                     ns, shape);
}

std::vector<Finding> Compare(CompileLogBuilder& log) {
  log.Run(compile_artifacts::Describe());
  return log.Run(Describe());
}

std::string StateOf(const Model& model, std::string_view what) {
  const auto& checks = model.tables.Get<CompileRankCheckTable>();
  for (size_t i = 0; i < checks.size(); ++i) {
    if (model.pools.Text(checks.what[i]) == what)
      return std::string(model.pools.Text(checks.state[i]));
  }
  return "absent";
}

// "0 2|1": ranks of each group.
std::string GroupsOf(const Model& model, std::string_view what) {
  const auto& groups = model.tables.Get<CompileDivergenceTable>();
  std::string text;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (model.pools.Text(groups.what[i]) != what) continue;
    if (!text.empty()) text += '|';
    auto ranks = model.pools.lists.Get(groups.ranks[i]);
    text += fmt::format("{}", fmt::join(ranks.begin(), ranks.end(), " "));
  }
  return text;
}

std::string Deltas(const Model& model, std::string_view pairing) {
  const auto& deltas = model.tables.Get<CompileRuntimeDeltaTable>();
  std::string text;
  for (size_t i = 0; i < deltas.size(); ++i) {
    if (model.pools.Text(deltas.pairing[i]) != pairing) continue;
    text +=
        fmt::format("{} {} ({} {}, {} {}){};", model.pools.Text(deltas.graph[i]),
                    deltas.delta_ms[i], deltas.fastest_rank[i], deltas.fastest_ms[i],
                    deltas.slowest_rank[i], deltas.slowest_ms[i], deltas.tied[i] ? " tied" : "");
  }
  return text;
}

TEST(CompileRanks, EqualRanksAreConsistent) {
  CompileLogBuilder log;
  for (int32_t rank : {0, 1}) {
    log.Log(rank)
        .Add({.name = kSchedule, .payload = "[\"a\"]"})
        .Add({.name = kRuntime, .payload = "{\"ops\": []}"})
        .Add({.name = "fx_graph_cache_hit"});
  }
  EXPECT_TRUE(Compare(log).empty());
  for (std::string_view what : {"compile_ids", "cache", "collectives", "collectives_by_graph",
                                "tensor_meta", "tensor_shapes"})
    EXPECT_EQ(StateOf(log.model(), what), "consistent") << what;
  EXPECT_EQ(StateOf(log.model(), "runtime"), "unavailable");
  EXPECT_EQ(StateOf(log.model(), "order"), "unavailable");
  EXPECT_EQ(log.model().tables.Get<CompileDivergenceTable>().size(), 0u);
}

TEST(CompileRanks, GroupsRanksByWhatTheyCompiled) {
  CompileLogBuilder log;
  log.Log(0).Add({.name = kSchedule, .payload = "[\"a\", \"b\"]"}).Add({.name = "x_cache_hit"});
  log.Log(1).Add({.name = kSchedule, .payload = "[\"a\"]"}).Add({.name = "x_cache_miss"});
  log.Log(2)
      .Add({.name = kSchedule, .payload = "[\"a\", \"b\"]"})
      .Add({.name = "y_cache_hit"})
      .Add({.name = "other", .frame = 1});
  auto findings = Compare(log);
  EXPECT_EQ(GroupsOf(log.model(), "collectives"), "0 2|1");
  EXPECT_EQ(GroupsOf(log.model(), "cache"), "0 2|1");
  EXPECT_EQ(GroupsOf(log.model(), "compile_ids"), "0 1|2");
  EXPECT_EQ(StateOf(log.model(), "tensor_meta"), "unavailable");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "compile_ranks.collectives_by_graph");
  EXPECT_EQ(findings[0].headline,
            "Ranks compiled different collectives: ranks 0 and 2 against rank 1");
}

TEST(CompileRanks, TheSameOpsInOtherGraphsAreNotTheSame) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = kSchedule, .payload = "[\"a\", \"b\"]"})
      .Add({.name = kSchedule, .payload = "[\"c\"]", .frame = 1});
  log.Log(1)
      .Add({.name = kSchedule, .payload = "[\"a\"]"})
      .Add({.name = kSchedule, .payload = "[\"b\", \"c\"]", .frame = 1});
  Compare(log);
  EXPECT_EQ(StateOf(log.model(), "collectives"), "consistent");
  EXPECT_EQ(GroupsOf(log.model(), "collectives_by_graph"), "0|1");
}

TEST(CompileRanks, ARankWithoutAScheduleIsAGroupForTlparseOnly) {
  CompileLogBuilder log;
  log.Log(0).Add({.name = kSchedule, .payload = "[\"a\"]"});
  log.Log(1).Add({.name = "x"});
  log.Log(2).Add({.name = kSchedule, .payload = "[\"a\"]"});
  Compare(log);
  EXPECT_EQ(GroupsOf(log.model(), "collectives"), "0 2|1");
  EXPECT_EQ(StateOf(log.model(), "collectives_by_graph"), "consistent");
}

TEST(CompileRanks, OnlyGraphsThatRanksShareAreCompared) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = kRuntime, .payload = Runtime(1, 4)})
      .Add({.name = kRuntime, .payload = Runtime(1, 7), .frame = 1});
  log.Log(1).Add({.name = kRuntime, .payload = Runtime(1, 4)});
  log.Log(2)
      .Add({.name = kRuntime, .payload = Runtime(1, 8), .frame = 1})
      .Add({.name = kRuntime, .payload = Runtime(1, 4)});
  Compare(log);
  EXPECT_EQ(GroupsOf(log.model(), "tensor_meta"), "0|1|2");
  EXPECT_EQ(GroupsOf(log.model(), "tensor_shapes"), "0|2");
}

TEST(CompileRanks, EstimatesMakeTensorsDifferForTlparseOnly) {
  CompileLogBuilder log;
  log.Log(0).Add({.name = kRuntime, .payload = Runtime(1000)});
  log.Log(1).Add({.name = kRuntime, .payload = Runtime(2000)});
  log.Log(2).Add({.name = "none"});
  Compare(log);
  EXPECT_EQ(GroupsOf(log.model(), "tensor_meta"), "0|1");
  EXPECT_EQ(StateOf(log.model(), "tensor_shapes"), "consistent");
  CompileLogBuilder other;
  other.Log(0).Add({.name = kRuntime, .payload = Runtime(1000, 4)});
  other.Log(1).Add({.name = kRuntime, .payload = Runtime(1000, 5)});
  Compare(other);
  EXPECT_EQ(GroupsOf(other.model(), "tensor_shapes"), "0|1");
}

TEST(CompileRanks, TiesGoToTheLastRankAndAreTold) {
  CompileLogBuilder log;
  for (int32_t rank : {0, 1, 2}) {
    log.Log(rank)
        .Add({.name = kRuntime, .payload = Runtime(1500000)})
        .Add({.name = kRuntime, .payload = Runtime(rank == 1 ? 2345678 : 1000), .frame = 1});
  }
  Compare(log);
  EXPECT_EQ(Deltas(log.model(), "position"),
            "-_0_0_0 0 (2 1.5, 2 1.5) tied;-_1_0_0 2.345 (2 0.001, 1 2.346);");
  EXPECT_EQ(Deltas(log.model(), "graph"), Deltas(log.model(), "position"));
  EXPECT_EQ(StateOf(log.model(), "runtime"), "differs");
}

TEST(CompileRanks, GraphsArePairedByPositionForTlparseAndByIdForUs) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = kRuntime, .payload = Runtime(1e6)})
      .Add({.name = kRuntime, .payload = Runtime(5e6), .frame = 1});
  log.Log(1)
      .Add({.name = kRuntime, .payload = Runtime(5e6), .frame = 1})
      .Add({.name = kRuntime, .payload = Runtime(7e6), .frame = 2});
  Compare(log);
  EXPECT_EQ(Deltas(log.model(), "position"), "-_0_0_0 4 (0 1, 1 5);-_1_0_0 2 (0 5, 1 7);");
  EXPECT_EQ(Deltas(log.model(), "graph"), "-_1_0_0 0 (1 5, 1 5) tied;");
}

TEST(CompileRanks, DifferentNumbersOfGraphsAreNotComparedByPosition) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = kRuntime, .payload = Runtime(1e6)})
      .Add({.name = kRuntime, .payload = Runtime(5e6), .frame = 1});
  log.Log(1).Add({.name = kRuntime, .payload = Runtime(2e6)});
  Compare(log);
  EXPECT_EQ(StateOf(log.model(), "runtime"), "unavailable");
  EXPECT_EQ(Deltas(log.model(), "position"), "");
  EXPECT_EQ(Deltas(log.model(), "graph"), "-_0_0_0 1 (0 1, 1 2);");
}

// The case of tlparse's own test: row 0 differs in collectives, row 1 in caches, row 2 in nothing.
TEST(CompileRanks, ComparesExecutionOrders) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = kSchedule, .payload = "[\"a\"]"})
      .Add({.name = "x_cache_hit", .frame_compile = 1})
      .Add({.name = kOrder, .payload = R"({"graph_execution_order": ["0/0", "0/1", "0/2"]})"});
  log.Log(1)
      .Add({.name = "x_cache_miss"})
      .Add({.name = kSchedule, .payload = "[\"b\"]", .frame_compile = 1})
      .Add({.name = kOrder, .payload = R"({"graph_execution_order": ["0/1", "0/0", "0/2"]})"});
  Compare(log);
  const auto& order = log.model().tables.Get<CompileOrderTable>();
  std::string rows;
  for (size_t i = 0; i < order.size(); ++i) {
    rows += fmt::format("{} {} {}{}{};", order.position[i], order.rank[i],
                        log.model().pools.Text(order.compile_id[i]),
                        order.schedule_mismatch[i] ? " schedule" : "",
                        order.cache_mismatch[i] ? " cache" : "");
  }
  EXPECT_EQ(rows, "0 0 0/0 schedule;0 1 0/1 schedule;1 0 0/1 cache;1 1 0/0 cache;2 0 0/2;2 1 0/2;");
  EXPECT_EQ(StateOf(log.model(), "order"), "differs");
  EXPECT_EQ(GroupsOf(log.model(), "order"), "0|1");
  EXPECT_EQ(GroupsOf(log.model(), "order_schedule"), "0 1");
  EXPECT_EQ(GroupsOf(log.model(), "order_cache"), "0 1");
}

TEST(CompileRanks, AnOrderThatEndsEarlierDoesNotDifferForTlparse) {
  CompileLogBuilder log;
  log.Log(0).Add({.name = kOrder, .payload = R"({"graph_execution_order": ["0/0", "0/1"]})"});
  log.Log(1).Add({.name = kOrder, .payload = R"({"graph_execution_order": ["0/0"]})"});
  Compare(log);
  EXPECT_EQ(StateOf(log.model(), "order"), "consistent");
  EXPECT_EQ(GroupsOf(log.model(), "order"), "0|1");
  EXPECT_EQ(StateOf(log.model(), "order_schedule"), "consistent");
}

TEST(CompileRanks, LogsOfNoRankAreNotCompared) {
  CompileLogBuilder log;
  log.Log(0).Add({.name = "a"});
  auto& entries = log.model().tables.Edit<CompileEntryTable>();
  entries.rank[0] = kNone32;
  EXPECT_TRUE(Compare(log).empty());
  EXPECT_EQ(log.model().tables.Get<CompileRankCheckTable>().size(), 0u);
}

}  // namespace compile_ranks_test
}  // namespace compile_ranks
}  // namespace debrief::analyses
