// Graphs made by hand, whole and broken.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "torch/fx/graph.h"
#include "torch/fx/graph_compare.h"
#include "torch/fx/graph_text.h"

namespace debrief {
namespace fx_graph_text_test {

std::string Graph(std::string_view signature, std::string_view body) {
  return fmt::format("class GraphModule(torch.nn.Module):\n    def forward(self{}):\n{}", signature,
                     body);
}

// name op target(inputs) for each node.
std::string Show(const GraphNodes& graph) {
  std::string text;
  for (const FxNode& node : graph.nodes) {
    text += fmt::format("{} {} {}(", node.name, FxOpName(node.op), node.target);
    for (const FxInput& input : graph.InputsOf(node)) text += fmt::format("{} ", input.node);
    text += ")\n";
  }
  return text;
}

std::string Parsed(std::string_view text) {
  auto graph = ParseGraph(text);
  return graph.ok() ? Show(graph.value()) : graph.status().message();
}

std::string HashOf(std::string_view text) {
  auto graph = ParseGraph(text);
  return graph.ok() ? GraphHash(graph.value()) : "";
}

// What one statement over the nodes x and y is.
std::string OpOf(std::string_view statement) {
  std::string text = Graph(", x, y", fmt::format("        {}\n        return (r,)\n", statement));
  auto graph = ParseGraph(text);
  if (!graph.ok() || graph->nodes.size() != 4) return fmt::format("{} nodes", graph->nodes.size());
  const FxNode& node = graph->nodes[2];
  std::string inputs;
  for (const FxInput& input : graph->InputsOf(node)) inputs += input.node == 0 ? 'x' : 'y';
  return fmt::format("{} {} {}", FxOpName(node.op), node.target, inputs);
}

constexpr std::string_view kDynamo = R"py(class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[4, s27][s27, 1]cuda:0", s27: "Sym(s27)", L_w_ : torch.Tensor):
        l_x_ = L_x_

        # File: /a b/model.py:27 in forward, code: y = f(x), code: z
        sum_1: "f32[][]cuda:0" = l_x_.sum();  l_x_ = None
        # No stacktrace found for following nodes
        add: "f32[][]cuda:0" = sum_1 + 1;  sum_1 = None
        return (add, None, s27)
)py";

TEST(FxGraphText, ReadsWhatDynamoPrints) {
  auto parsed = ParseGraph(kDynamo);
  ASSERT_TRUE(parsed.ok());
  const GraphNodes& graph = parsed.value();
  EXPECT_EQ(
      Show(graph),
      "l_x_ placeholder L_x_()\ns27 placeholder s27()\nL_w_ placeholder L_w_()\n"
      "sum_1 call_method sum(0 )\nadd call_function operator.add(3 )\n output output(4 1 )\n");
  EXPECT_EQ(graph.nodes[0].value.sizes, "4, s27");
  EXPECT_EQ(graph.nodes[0].value.strides, "s27, 1");
  EXPECT_EQ(graph.nodes[0].value.device, "cuda:0");
  EXPECT_EQ(graph.nodes[2].value.text, "");
  EXPECT_EQ(graph.nodes[1].users, 1U);
  const FxPlace& place = graph.PlaceOf(graph.nodes[3]);
  EXPECT_EQ(place.file, "/a b/model.py");
  EXPECT_EQ(place.line, 27U);
  EXPECT_EQ(place.function, "forward");
  EXPECT_EQ(place.code, "y = f(x), code: z");
  EXPECT_EQ(graph.PlaceOf(graph.nodes[4]).line, 0U);
}

TEST(FxGraphText, TabsOfTheLogMeanNothing) {
  std::string tabbed = "\t";
  for (char c : kDynamo) (tabbed += c) += c == '\n' ? "\t" : "";
  EXPECT_EQ(Parsed(tabbed), Parsed(kDynamo));
  EXPECT_EQ(HashOf(tabbed), HashOf(kDynamo));
}

TEST(FxGraphText, KnowsTheFormsOfAStatement) {
  EXPECT_EQ(OpOf("r = torch.ops.aten.mm.default(x, y)"),
            "call_function torch.ops.aten.mm.default xy");
  EXPECT_EQ(OpOf("r = x.view(1, y, x = 2)"), "call_method view xy");
  EXPECT_EQ(OpOf("r = self.fc1(x)"), "call_module self.fc1 x");
  EXPECT_EQ(OpOf("r = getattr(getattr(self.a, \"0\").b, \"1\")(x)"), "call_module self.a.0.b.1 x");
  EXPECT_EQ(OpOf("r = getattr(self.a, \"0\").weight"), "get_attr self.a.0.weight ");
  EXPECT_EQ(OpOf("r = self.weight"), "get_attr self.weight ");
  EXPECT_EQ(OpOf("r = x[(slice(None, None, None), y)]"), "call_function operator.getitem xy");
  EXPECT_EQ(OpOf("r = x.shape"), "call_function getattr x");
  EXPECT_EQ(OpOf("r = -x"), "call_function operator.neg x");
  EXPECT_EQ(OpOf("r = ~x"), "call_function operator.invert x");
  EXPECT_EQ(OpOf("r = 4 * x"), "call_function operator.mul x");
  EXPECT_EQ(OpOf("r = x // -1"), "call_function operator.floordiv x");
  EXPECT_EQ(OpOf("r: \"b8[]\" = x >= y;  x = y = None"), "call_function operator.ge xy");
  EXPECT_EQ(OpOf("r = x is y"), "call_function operator.is_ xy");
  EXPECT_EQ(OpOf("x += y;  r: \"f32[4]\" = x;  x = y = None"), "call_function operator.iadd xy");
  EXPECT_EQ(OpOf("x[0] = y;  r = x;  x = y = None"), "call_function operator.setitem xy");
  EXPECT_EQ(OpOf("r = f('x, (\\'', \"y)\", {'k': (x, [y])})"), "call_function f xy");
  EXPECT_EQ(
      OpOf("r = torch.ops.aten.full.default([], 1e-05, device = device(type='cuda', index=0))"),
      "call_function torch.ops.aten.full.default ");
}

TEST(FxGraphText, WhatIsNotUnderstoodIsANode) {
  EXPECT_EQ(OpOf("r = f(x)(y)"), "unknown  xy");
  EXPECT_EQ(OpOf("r = f(x, y"), "unknown  xy");
  EXPECT_EQ(OpOf("r = f(x, y))"), "unknown  xy");
  EXPECT_EQ(OpOf("assert x"), "unknown  x");
  EXPECT_EQ(OpOf("x += y"), "unknown  xy");
  EXPECT_EQ(OpOf("r = 'x"), "unknown  ");
  EXPECT_EQ(OpOf("= ="), "unknown  ");
}

TEST(FxGraphText, AnOpenBracketEndsWithItsLine) {
  EXPECT_EQ(Parsed(Graph(", x", "        a = f(x, [\n        b = g(a)\n        return (b,)\n")),
            "x placeholder x()\na unknown (0 )\nb call_function g(1 )\n output output(2 )\n");
}

TEST(FxGraphText, StatementsOverSeveralLines) {
  EXPECT_EQ(Parsed("class A(torch.nn.Module):\n    def forward(\n        self,\n"
                   "        x: \"f32[2]\",  # Plain(idx=0) isn't\n        y,\n    ):\n"
                   "        return (\n            x,  # it's (\n            y,\n        )\n"),
            "x placeholder x()\ny placeholder y()\n output output(0 1 )\n");
}

TEST(FxGraphText, InputsOfAJointGraphAreFlattened) {
  EXPECT_EQ(Parsed("class inner_f(torch.nn.Module):\n    def forward(self, primals, tangents):\n"
                   "        primals_1: \"f32[2]\"; tangents_1: \"f32[3]\"; \n"
                   "        primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, "
                   "tangents], self._in_spec)\n        a = f(primals_1)\n"
                   "        return pytree.tree_unflatten([a, tangents_1], self._out_spec)\n"),
            "primals_1 placeholder primals_1()\ntangents_1 placeholder tangents_1()\n"
            "a call_function f(0 )\n output output(2 1 )\n");
}

TEST(FxGraphText, AGraphInsideHasNamesOfItsOwn) {
  std::string text = Graph(", x", "        body_0 = self.body_0\n        return (x,)\n\n") +
                     "    class body_0(torch.nn.Module):\n        def forward(self, y):\n"
                     "            z = x + y\n            return z\n";
  auto graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok());
  ASSERT_EQ(graph->graphs.size(), 2U);
  EXPECT_EQ(graph->graphs[1], "body_0");
  EXPECT_EQ(graph->nodes[4].graph, 1U);
  EXPECT_EQ(graph->nodes[4].input_count, 1U);  // x is not known in there
}

TEST(FxGraphText, NoGraphIsAnError) {
  for (std::string_view text :
       {"", "\n\n", "#include <x>\nint main() { return 0; }", "class A:", "return x", "\0\0\xff"})
    EXPECT_FALSE(ParseGraph(text).ok()) << text;
  EXPECT_FALSE(ParseGraph("def").ok());
  EXPECT_TRUE(ParseGraph("def forward").ok());
}

TEST(FxGraphText, EveryBeginningOfAGraphIsRead) {
  for (size_t size = 0; size < kDynamo.size(); ++size) {
    std::string part(kDynamo.substr(0, size));
    auto graph = ParseGraph(part);
    if (!graph.ok()) continue;
    EXPECT_EQ(GraphHash(graph.value()).size(), 32U);
  }
}

TEST(FxGraphText, LongLinesAreLinear) {
  std::string names(1 << 20, '(');
  EXPECT_EQ(Parsed(Graph(", x", "        r = " + names)), "x placeholder x()\nr unknown ()\n");
  std::string quotes(1 << 20, '"');
  EXPECT_NE(Parsed(Graph(", x", "        r = " + quotes)), "");
  std::string chain;
  for (int i = 0; i < 100000; ++i) chain += "getattr(";
  EXPECT_NE(Parsed(Graph(", x", "        r = " + chain)), "");
  std::string list = "        r = f(";
  for (int i = 0; i < 200000; ++i) list += "x, ";
  auto graph = ParseGraph(list = Graph(", x", list + ")\n"));
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->nodes[1].input_count, 200000U);
  EXPECT_EQ(graph->nodes[0].users, 1U);
}

TEST(FxGraphHash, NamesPlacesAndDevicesDoNotCount) {
  auto graph = [](std::string_view format) {
    std::string text(format);
    return HashOf(Graph(", a: \"f32[4, s0]cuda:0\"", text));
  };
  std::string base = graph("        b: \"f32[s0]cuda:0\" = f(a, device(type='cuda', index=0))\n");
  EXPECT_EQ(base, HashOf(Graph(", p: \"f32[4, s77]cuda:3\"",
                               "        # File: x.py:1 in f, code: y\n        q: \"f32[s77]cuda:3\""
                               " = f(p, device(type='cuda', index=3));  p = None\n")));
  EXPECT_NE(base, graph("        b: \"f32[s1]cuda:0\" = f(a, device(type='cuda', index=0))\n"));
  EXPECT_NE(base, graph("        b: \"f16[s0]cuda:0\" = f(a, device(type='cuda', index=0))\n"));
  EXPECT_NE(base, graph("        b: \"f32[s0]cuda:0\" = g(a, device(type='cuda', index=0))\n"));
  EXPECT_NE(base, graph("        b: \"f32[s0]cuda:0\" = f(a, device(type='cpu', index=0))\n"));
  EXPECT_NE(graph("        b = f(a, index = 1)\n"), graph("        b = f(a, index = 2)\n"));
  EXPECT_EQ(graph("        b = f(a, kernel_idx = 1)\n"),
            graph("        b = f(a, kernel_idx = 2)\n"));
  EXPECT_EQ(graph("        b = f(a, <C at 0x7f01>)\n"), graph("        b = f(a, <C at 0x7f02>)\n"));
  EXPECT_EQ(graph("        b = a.to('cuda:1')\n"), graph("        b = a.to('cuda:2')\n"));
}

TEST(FxGraphHash, ConnectionsAndGroupsCount) {
  auto two = [](std::string_view second) {
    return HashOf(Graph(", a, b", fmt::format("        c = f(a)\n        d = {}\n", second)));
  };
  EXPECT_NE(two("f(c)"), two("f(b)"));
  EXPECT_NE(two("f(a, b)"), two("f(b, a)"));
  auto collective = [](std::string_view one, std::string_view other) {
    return HashOf(
        Graph(", a", fmt::format("        b = torch.ops._c10d_functional.all_reduce("
                                 "a, 'sum', '{}')\n        c = torch.ops._c10d_functional."
                                 "all_reduce(b, 'sum', '{}')\n",
                                 one, other)));
  };
  EXPECT_EQ(collective("1", "1"), collective("7", "7"));
  EXPECT_NE(collective("1", "1"), collective("1", "2"));
}

TEST(FxValue, ReadsShapesAndBytes) {
  EXPECT_EQ(FxBytes(ReadFxValue("f32[4, 64][64, 1]cuda:0")), 1024);
  EXPECT_EQ(FxBytes(ReadFxValue("bf16[][]cpu")), 2);
  EXPECT_EQ(FxBytes(ReadFxValue("f8e4m3fn[3]")), 3);
  EXPECT_EQ(FxBytes(ReadFxValue("b8[0]")), 0);
  EXPECT_EQ(FxBytes(ReadFxValue("Sym(s0 + 1)")), 0);
  for (std::string_view text : {"f32[4, s0]", "f32[4*2]", "f32[-1]", "", "[4]", "f32[4", "x32[4]",
                                "f32[9223372036854775807]", "f32[99999999999999999999]", "Tensor"})
    EXPECT_EQ(FxBytes(ReadFxValue(text)), std::nullopt) << text;
  FxValue value = ReadFxValue("f32[Max(1, s0), 2][2, 1]cuda:1");
  EXPECT_EQ(value.sizes, "Max(1, s0), 2");
  EXPECT_EQ(value.device, "cuda:1");
  std::string symbols;
  ForEachFxSymbol("4*s27, u0 + zuf3, s, su1, Mods1, s1x, 8",
                  [&](std::string_view symbol) { (symbols += symbol) += ' '; });
  EXPECT_EQ(symbols, "s27 u0 zuf3 ");
}

TEST(FxInputSource, GuessesFromTheName) {
  FxInputSource weight =
      GuessInputSource("L_self_modules_blocks_modules_0_modules_ln1_parameters_weight_");
  EXPECT_EQ(weight.path, "self.blocks.0.ln1.weight");
  EXPECT_EQ(weight.module_path(), "self.blocks.0.ln1");
  EXPECT_EQ(weight.leaf(), "weight");
  EXPECT_TRUE(weight.is_parameter);
  EXPECT_EQ(GuessInputSource("L_x_").path, "x");
  EXPECT_EQ(GuessInputSource("L_m_orig_mod_modules_fc_parameters_weight_").path, "m.fc.weight");
  EXPECT_EQ(GuessInputSource("G_net_modules_a_buffers_my_mask_").path, "net.a.my_mask");
  EXPECT_EQ(GuessInputSource("L_self_parameters_w_").module_path(), "self");
  EXPECT_EQ(GuessInputSource("L__self___fc1").path, "self.fc1");
  for (std::string_view name : {"primals_1", "s27", "", "L_", "L_modules_", "L___"})
    EXPECT_FALSE(GuessInputSource(name).is_parameter) << name;
  EXPECT_EQ(GuessInputSource("primals_1").path, "");
}

}  // namespace fx_graph_text_test
}  // namespace debrief
