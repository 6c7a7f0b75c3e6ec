#include <fmt/format.h>
#include <gtest/gtest.h>

#include "torch/fx/graph_compare.h"
#include "torch/fx/graph_text.h"

namespace debrief {
namespace fx_graph_diff_test {

std::string Graph(std::string_view signature, std::string_view body) {
  return fmt::format("class G(torch.nn.Module):\n    def forward(self, {}):\n{}", signature, body);
}

// +name, -name, ~name (changed), >name (rewired), and how many are the same.
std::string Diff(const std::string& old_text, const std::string& new_text) {
  auto before = ParseGraph(old_text);
  auto now = ParseGraph(new_text);
  if (!before.ok() || !now.ok()) return "no graph";
  GraphDiff diff = DiffGraphs(before.value(), now.value());
  std::string text;
  for (const FxNodeChange& change : diff.changes) {
    text += "+-~>"[static_cast<size_t>(change.what)];
    text += change.now == FxNodeChange::kNone ? before->nodes[change.before].name
                                              : now->nodes[change.now].name;
    text += ' ';
  }
  return text + std::to_string(diff.same);
}

TEST(FxGraphDiff, EqualGraphsUnderOtherNamesAreEqual) {
  EXPECT_EQ(Diff(Graph("x", "        a = f(x)\n        return (a,)\n"),
                 Graph("y", "        b = f(y)\n        return (b,)\n")),
            "3");
}

TEST(FxGraphDiff, AnInsertedNodeShiftsNothingButItsUser) {
  EXPECT_EQ(
      Diff(Graph("x", "        a = f(x)\n        b = g(a)\n        c = h(b)\n"),
           Graph("x", "        a = f(x)\n        n = k(a)\n        b = g(n)\n        c = h(b)\n")),
      "+n >b 3");
}

TEST(FxGraphDiff, RemovedAndChanged) {
  EXPECT_EQ(Diff(Graph("L_x_: \"f32[4]\"", "        a = f(L_x_, 1)\n        b = g(a)\n"),
                 Graph("L_x_: \"f32[s0]\"", "        a = f(L_x_, 2)\n")),
            "~L_x_ ~a -b 0");
}

TEST(FxGraphDiff, NamedInputsCorrespondByName) {
  EXPECT_EQ(Diff(Graph("L_a_: \"f32[4]\", L_b_: \"f32[4]\"", "        c = f(L_a_)\n"),
                 Graph("L_b_: \"f32[4]\"", "        c = f(L_b_)\n")),
            "-L_a_ >c 1");
}

TEST(FxGraphDiff, NothingInCommonIsLinear) {
  std::string one;
  std::string other;
  for (int i = 0; i < 20000; ++i) {
    one += fmt::format("        a{} = f{}(x)\n", i, i % 3);
    other += fmt::format("        b{} = g{}(x)\n", i, i % 5);
  }
  EXPECT_TRUE(Diff(Graph("x", one), Graph("x", other)).ends_with(" 1"));
}

TEST(FxGraphDiff, SwappedNodes) {
  EXPECT_EQ(Diff(Graph("x", "        a = f(x)\n        b = g(x)\n"),
                 Graph("x", "        b = g(x)\n        a = f(x)\n"))
                .back(),
            '3');
}

}  // namespace fx_graph_diff_test
}  // namespace debrief
