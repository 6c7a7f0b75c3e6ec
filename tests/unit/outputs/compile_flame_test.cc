// Flame graphs of compile time: texts of a model made by hand.
#include <gtest/gtest.h>

#include "outputs/compile_stacks.h"
#include "tables/compile_span.h"
#include "tables/compile_trie_end.h"
#include "tables/compile_trie_node.h"

namespace debrief::outputs::compile_flame {
namespace compile_flame_test {

class CompileFlame : public ::testing::Test {
 protected:
  void AddNode(int32_t input, int32_t node, int32_t parent, std::string_view function) {
    CompileTrieNodeRow row;
    row.input = input;
    row.trie = model_.pools.Intern("starts");
    row.node = node;
    row.parent = parent;
    const FrameId frame = model_.pools.AddFrame({.file = model_.pools.Intern("a.py"),
                                                 .function = model_.pools.Intern(function),
                                                 .line = node});
    row.frame = model_.pools.AddStack({&frame, 1});
    model_.tables.Edit<CompileTrieNodeTable>().Add(row);
  }

  void AddEnd(int32_t input, int32_t node, int64_t entry, std::string_view status) {
    CompileTrieEndRow row;
    row.input = input;
    row.trie = model_.pools.Intern("starts");
    row.node = node;
    row.entry = entry;
    row.status = model_.pools.Intern(status);
    model_.tables.Edit<CompileTrieEndTable>().Add(row);
  }

  void AddSpan(int32_t input, int64_t entry, double seconds, int32_t rank) {
    CompileSpanRow row;
    row.input = input;
    row.rank = rank;
    row.entry = entry;
    row.seconds = seconds;
    model_.tables.Edit<CompileSpanTable>().Add(row);
  }

  Model model_;
};

TEST_F(CompileFlame, AttemptsCountOnceAndEqualStacksAddUp) {
  AddNode(0, 0, kNone32, "main");
  AddNode(0, 1, 0, "f;\ng");
  AddEnd(0, 1, 10, "ok");
  AddEnd(0, 1, 20, "ok");  // a second attempt, of no span of its own
  AddEnd(0, 1, 30, "ok");
  AddSpan(0, 10, 1.5, 0);
  AddSpan(0, 30, 0.25, 0);
  AddSpan(0, 99, 7, 0);          // began nowhere
  AddSpan(0, 20, kNoDouble, 0);  // took nobody knows how long
  const auto samples = MakeSamples(model_);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(Collapsed(model_, samples), "a.py:0 main;a.py:1 f, g 1750000\n");
  const std::string json = Speedscope(model_, samples);
  EXPECT_NE(json.find(R"("samples":[[0,1],[0,1]],"weights":[1.5,0.25])"), std::string_view::npos)
      << json;
  EXPECT_NE(json.find(R"("endValue":1.75)"), std::string_view::npos) << json;
}

TEST_F(CompileFlame, RanksAreTheOutermostFrame) {
  for (int32_t input : {0, 1}) {
    AddNode(input, 0, kNone32, "main");
    AddEnd(input, 0, 5, "ok");
    AddSpan(input, 5, 1, input + 4);
  }
  const auto samples = MakeSamples(model_);
  EXPECT_EQ(Collapsed(model_, samples), "rank 4;a.py:0 main 1000000\nrank 5;a.py:0 main 1000000\n");
}

TEST_F(CompileFlame, DotHasOneNodeAFrameAndIsQuoted) {
  AddNode(0, 0, kNone32, "main");
  AddNode(0, 1, 0, "say \"hi\"\\");
  AddEnd(0, 1, 10, "ok");
  AddEnd(0, 1, 20, "error");
  const std::string dot = Dot(model_);
  EXPECT_NE(dot.find("  n0_0 [label=\"a.py:0 main\"];\n"), std::string_view::npos) << dot;
  EXPECT_NE(dot.find(R"(n0_1 [label="a.py:1 say \"hi\"\\ [1 error] [1 ok]", fillcolor=salmon];)"),
            std::string_view::npos)
      << dot;
  EXPECT_NE(dot.find("n0_0 -> n0_1;"), std::string_view::npos);
}

TEST_F(CompileFlame, ATreeThatIsACircleEnds) {
  AddNode(0, 0, 1, "a");
  AddNode(0, 1, 0, "b");
  AddEnd(0, 1, 10, "ok");
  AddSpan(0, 10, 1, 0);
  EXPECT_EQ(MakeSamples(model_).size(), 1u);
}

}  // namespace compile_flame_test
}  // namespace debrief::outputs::compile_flame
