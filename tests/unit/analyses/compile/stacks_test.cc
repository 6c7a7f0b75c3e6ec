#include <gtest/gtest.h>

#include <string>

#include "analyses/analysis.h"
#include "model/compile/frames.h"
#include "tables/compile_trie_end.h"
#include "tables/compile_trie_node.h"
#include "unit/outputs/compile_fixture.h"

namespace debrief::analyses::compile_stacks {

const Analysis& Describe();

namespace compile_stacks_test {

class CompileStacks : public ::testing::Test {
 protected:
  FrameId F(std::string_view name) { return log.AddFrame("train.py", name, 1); }

  void Run() {
    AnalysisResult result;
    ASSERT_TRUE(Describe().run(log.model, result).ok());
    log.model.Append(std::move(result.part));
  }

  // "0:main(0:f 1:g)": numbers and parents of the nodes of a trie.
  std::string Nodes(std::string_view trie) {
    const auto& nodes = log.model.tables.Get<CompileTrieNodeTable>();
    const Pools& pools = log.model.pools;
    std::string text;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (pools.Text(nodes.trie[i]) != trie) continue;
      const Frame& frame = pools.GetFrame(pools.GetStack(nodes.frame[i]).front());
      text += fmt::format("{}<{}:{} ", nodes.node[i],
                          nodes.parent[i] == kNone32 ? "" : std::to_string(nodes.parent[i]),
                          pools.Text(frame.function));
    }
    return text;
  }

  std::string Ends(std::string_view trie) {
    const auto& ends = log.model.tables.Get<CompileTrieEndTable>();
    const Pools& pools = log.model.pools;
    std::string text;
    for (size_t i = 0; i < ends.size(); ++i) {
      if (pools.Text(ends.trie[i]) != trie) continue;
      text += fmt::format("{}@{}={} ", pools.Text(ends.compile_id[i]), ends.node[i],
                          pools.Text(ends.status[i]));
    }
    return text;
  }

  CompileMetricsRow Metrics(int64_t ops, int32_t restarts, std::string_view fail = {}) {
    CompileMetricsRow row;
    row.graph_op_count = ops;
    row.restart_reasons = restarts;
    if (!fail.empty()) row.fail_type = log.model.pools.Intern(fail);
    return row;
  }

  CompileFixture log;
};

TEST_F(CompileStacks, SharesOuterFramesInOrderOfFirstSight) {
  log.AddEntry("dynamo_start", "0/0", log.AddStack({F("main"), F("f")}));
  log.AddEntry("dynamo_start", "1/0", log.AddStack({F("main"), F("g")}));
  log.AddEntry("dynamo_start", "2/0", log.AddStack({F("main")}));
  log.AddEntry("dynamo_start", "3/0", log.AddStack({F("g")}));
  Run();
  EXPECT_EQ(Nodes("starts"), "0<:main 1<0:f 2<0:g 3<:g ");
  EXPECT_EQ(Ends("starts"), "0/0@1=missing 1/0@2=missing 2/0@0=missing 3/0@3=missing ");
  EXPECT_EQ(Nodes("entries"), "");
}

TEST_F(CompileStacks, StatusIsThatOfTheCompilationWhateverTheAttempt) {
  const StackId stack = log.AddStack({F("main")});
  for (std::string_view id : {"0/0", "0/0_1", "1/0", "2/0", "3/0", "4/0", "5/0"}) {
    log.AddEntry("dynamo_start", id, stack);
  }
  log.AddMetrics("0/0_1", Metrics(3, 1));
  log.AddMetrics("1/0", Metrics(3, 0));
  log.AddMetrics("2/0", Metrics(0, 0));
  log.AddMetrics("3/0", Metrics(3, 1, "Unsupported"));
  log.AddMetrics("4/0", Metrics(3, kNone32));  // the log does not tell of restarts: no break
  log.AddMetrics("5/0", Metrics(3, 0, "Fails"), 0, "bwd_compilation_metrics");
  Run();
  EXPECT_EQ(Ends("starts"),
            "0/0@0=break 0/0_1@0=break 1/0@0=ok 2/0@0=empty 3/0@0=error 4/0@0=ok 5/0@0=missing ");
}

TEST_F(CompileStacks, WorstOfSeveralMetricsCounts) {
  log.AddEntry("dynamo_start", "0/0", log.AddStack({F("main")}));
  log.AddMetrics("0/0", Metrics(3, 0, "Broken"));
  log.AddMetrics("0/0", Metrics(3, 0));
  Run();
  EXPECT_EQ(Ends("starts"), "0/0@0=error ");
}

TEST_F(CompileStacks, LivesOfAProcessAreKeptApart) {
  const StackId stack = log.AddStack({F("main")});
  log.AddEntry("dynamo_start", "0/0", stack, 0);
  log.AddEntry("dynamo_start", "0/0", stack, 1);
  log.AddMetrics("0/0", Metrics(3, 0), 1);
  Run();
  EXPECT_EQ(Ends("starts"), "0/0@0=missing 0/0@0=ok ");
}

TEST_F(CompileStacks, FramesOfDynamoAreRemovedFromStartsOnly) {
  const std::string file = "/env/torch/_dynamo/convert_frame.py";
  auto convert = [&](std::string_view name) { return log.AddFrame(file, name, 9); };
  const StackId functions =
      log.AddStack({F("main"), convert("catch_errors"), convert("_convert_frame"),
                    convert("_convert_frame_assert")});
  const StackId callables =
      log.AddStack({F("main"), convert("__call__"), convert("__call__"), convert("__call__")});
  const StackId other =
      log.AddStack({log.AddFrame("xtorch/_dynamo/convert_frame.py", "__call__", 1),
                    log.AddFrame("xtorch/_dynamo/convert_frame.py", "__call__", 1),
                    log.AddFrame("xtorch/_dynamo/convert_frame.py", "__call__", 1)});
  log.AddEntry("dynamo_start", "0/0", functions);
  log.AddEntry("dynamo_start", "1/0", callables);
  log.entries().entry_stack[log.AddEntry("artifact", "1/0")] = functions;
  log.AddEntry("dynamo_start", "2/0", other);
  Run();
  EXPECT_EQ(Ends("starts"), "0/0@0=missing 1/0@0=missing 2/0@3=missing ");
  EXPECT_EQ(Nodes("entries"),
            "0<:main 1<0:catch_errors 2<1:_convert_frame 3<2:_convert_frame_assert ");
}

TEST_F(CompileStacks, RanksHaveTreesOfTheirOwnAndNumbersOfOneInput) {
  const StackId stack = log.AddStack({F("main")});
  log.entries().rank[log.AddEntry("dynamo_start", "0/0", stack)] = 0;
  log.entries().rank[log.AddEntry("dynamo_start", "0/0", stack)] = 1;
  log.entries().rank[log.AddEntry("dynamo_start", "1/0", stack)] = 0;
  Run();
  EXPECT_EQ(Nodes("starts"), "0<:main 1<:main ");
  EXPECT_EQ(Ends("starts"), "0/0@0=missing 0/0@1=missing 1/0@0=missing ");
}

TEST_F(CompileStacks, EntryWithSeveralRowsHasOneStack) {
  const StackId stack = log.AddStack({F("main")});
  log.entries().entry_stack[log.AddEntry("artifact", "0/0")] = stack;
  --log.next_entry;
  log.entries().entry_stack[log.AddEntry("graph_dump", "0/0")] = stack;
  log.AddEntry("dynamo_start", "0/0");  // a start without a stack is no start here
  Run();
  EXPECT_EQ(Ends("entries"), "0/0@0=missing ");
  EXPECT_EQ(Ends("starts"), "");
}

TEST(CompileFrames, ShortPath) {
  EXPECT_EQ(ShortPath("/x/y.py"), "/x/y.py");
  EXPECT_EQ(ShortPath("/a#link-tree/torch/x.py"), "torch/x.py");
  EXPECT_EQ(ShortPath("/a#link-tree/torch/#link-tree/x.py"), "torch/");
  EXPECT_EQ(ShortPath("/mnt/jobs/abc-seed-nspid40265_cgpid1-ns-40/torch/x.py"), "torch/x.py");
  EXPECT_EQ(ShortPath("/mnt/abc-seed-nspid40265"), "/mnt/abc-seed-nspid40265");
  EXPECT_EQ(ShortPath(""), "");
}

TEST(CompileFrames, WithoutAttempt) {
  EXPECT_EQ(WithoutAttempt("0/0_1"), "0/0");
  EXPECT_EQ(WithoutAttempt("!3/1/2_12"), "!3/1/2");
  EXPECT_EQ(WithoutAttempt("-/-"), "-/-");
  EXPECT_EQ(WithoutAttempt(""), "");
}

}  // namespace compile_stacks_test
}  // namespace debrief::analyses::compile_stacks
