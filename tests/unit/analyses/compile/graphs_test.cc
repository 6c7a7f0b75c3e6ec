// Tables of graphs, from logs made by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tables/compile_graph.h"
#include "tables/compile_graph_change.h"
#include "tables/compile_graph_input.h"
#include "tables/compile_graph_op.h"
#include "tables/compile_module.h"
#include "unit/analyses/compile/log_builder.h"

namespace debrief::analyses {

namespace compile_graphs {
const Analysis& Describe();
}
namespace compile_modules {
const Analysis& Describe();
}

namespace compile_graphs_test {

constexpr std::string_view kDynamo = "dynamo_output_graph";

constexpr std::string_view kFirst = R"py(class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[4, 8][8, 1]cuda:0", L_self_modules_a_modules_0_parameters_w_: "f32[8][1]cuda:0"):
        l_x_ = L_x_
        w = L_self_modules_a_modules_0_parameters_w_
        mul: "f32[4, 8][8, 1]cuda:0" = l_x_ * w;  l_x_ = None
        sin: "f32[4, 8][8, 1]cuda:0" = mul.sin();  mul = None
        sin_1: "f32[4, 8][8, 1]cuda:0" = sin.sin();  sin = None
        return (sin_1, None)
)py";

constexpr std::string_view kSecond = R"py(class GraphModule(torch.nn.Module):
    def forward(self, s0: "Sym(s0)", L_x_: "f32[s0, 8][8, 1]cuda:0", L_self_modules_a_modules_0_parameters_w_: "f32[8][1]cuda:0"):
        l_x_ = L_x_
        w = L_self_modules_a_modules_0_parameters_w_
        mul: "f32[s0, 8][8, 1]cuda:0" = l_x_ * w;  l_x_ = None
        cos: "f32[s0, 8][8, 1]cuda:0" = mul.cos();  mul = None
        sin: "f32[s0, 8][8, 1]cuda:0" = cos.sin();  cos = None
        return (sin,)
)py";

std::string Number(int64_t number) { return number == kNone64 ? "-" : std::to_string(number); }

std::string Graphs(const Model& model) {
  const auto& table = model.tables.Get<CompileGraphTable>();
  std::string text;
  for (size_t i = 0; i < table.size(); ++i) {
    text +=
        fmt::format("{} {} #{}: {} {} {} {} {}->{} [{}] {};", model.pools.Text(table.compile_id[i]),
                    model.pools.Text(table.kind[i]), table.position[i], table.ops[i],
                    table.nodes[i], table.inputs[i], table.outputs[i], Number(table.input_bytes[i]),
                    Number(table.output_bytes[i]), model.pools.Text(table.symbols[i]),
                    table.previous[i] == kNone64 ? "new" : "again");
  }
  return text;
}

std::string Changes(const Model& model) {
  const auto& table = model.tables.Get<CompileGraphChangeTable>();
  std::string text;
  for (size_t i = 0; i < table.size(); ++i) {
    text += fmt::format("{} {} {}>{};", model.pools.Text(table.what[i]),
                        model.pools.Text(table.name[i]), model.pools.Text(table.before[i]),
                        model.pools.Text(table.now[i]));
  }
  return text;
}

TEST(CompileGraphs, ComparesAGraphWithTheOneBefore) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.payload = kFirst, .kind = kDynamo})
      .Add({.payload = kSecond, .frame = 1, .kind = kDynamo})
      .Add({.payload = kSecond, .frame_compile = 1, .kind = kDynamo});
  EXPECT_TRUE(log.Run(compile_graphs::Describe()).empty());
  EXPECT_EQ(Graphs(log.model()),
            "0/0 dynamo_output_graph #0: 3 6 2 1 160->128 [] new;"
            "1/0 dynamo_output_graph #0: 3 7 3 1 -->- [s0] new;"
            "0/1 dynamo_output_graph #0: 3 7 3 1 -->- [s0] again;");
  EXPECT_EQ(
      Changes(log.model()),
      "op_added .cos 0>1;op_removed .sin 2>1;input_added s0 >s0;input_shape L_x_ 4, 8>s0, 8;");
}

TEST(CompileGraphs, OtherConstantsAreAChangeOfStructure) {
  auto graph = [](int constant) {
    return fmt::format("class G(M):\n    def forward(self, x):\n        a = x + {}\n", constant);
  };
  CompileLogBuilder log;
  std::string one = graph(1);
  std::string two = graph(2);
  log.Log(0)
      .Add({.payload = one, .kind = kDynamo})
      .Add({.payload = two, .frame_compile = 1, .kind = kDynamo})
      .Add({.payload = two, .frame_compile = 2, .kind = kDynamo});
  log.Run(compile_graphs::Describe());
  EXPECT_EQ(Changes(log.model()), "structure  >;");
}

TEST(CompileGraphs, ForwardAndBackwardOfOneKindAreKeptApart) {
  CompileLogBuilder log;
  constexpr std::string_view kName = "before_post_grad_graph";
  log.Log(0)
      .Add({.name = kName, .payload = kFirst, .encoding = "string"})
      .Add({.name = kName, .payload = kSecond, .encoding = "string"})
      .Add({.name = kName, .payload = kFirst, .frame_compile = 1, .encoding = "string"})
      .Add({.name = kName, .payload = kSecond, .frame_compile = 1, .encoding = "string"});
  log.Run(compile_graphs::Describe());
  EXPECT_EQ(log.model().tables.Get<CompileGraphTable>().position,
            (std::vector<int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(Changes(log.model()), "");
}

TEST(CompileGraphs, WhatIsNoGraphGivesNothing) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.payload = "", .kind = kDynamo})
      .Add({.payload = "int main() {}", .kind = kDynamo})
      .Add({.payload = kFirst, .kind = kDynamo, .state = "refused"})
      .Add({.name = "fx_graph_runnable", .payload = kFirst, .encoding = "string"})
      .Add({.name = "inductor_aot_kernel_code", .payload = kFirst, .kind = "graph_dump"});
  log.Run(compile_graphs::Describe());
  EXPECT_EQ(Graphs(log.model()), "");
}

TEST(CompileGraphs, EqualPayloadsGiveEqualRows) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.payload = kFirst, .kind = kDynamo})
      .Add({.payload = kFirst, .frame = 1, .kind = kDynamo});
  auto& entries = log.model().tables.Edit<CompileEntryTable>();
  entries.payload_md5[0] = entries.payload_md5[1] = log.model().pools.Intern("md5");
  entries.payload_ok[0] = entries.payload_ok[1] = 1;
  log.Run(compile_graphs::Describe());
  const auto& inputs = log.model().tables.Get<CompileGraphInputTable>();
  const auto& ops = log.model().tables.Get<CompileGraphOpTable>();
  ASSERT_EQ(inputs.size(), 4U);
  ASSERT_EQ(ops.size(), 4U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(inputs.name[i], inputs.name[i + 2]);
    EXPECT_EQ(inputs.bytes[i], inputs.bytes[i + 2]);
    EXPECT_NE(inputs.entry[i], inputs.entry[i + 2]);
    EXPECT_EQ(ops.op[i], ops.op[i + 2]);
    EXPECT_EQ(ops.count[i], ops.count[i + 2]);
  }
  EXPECT_EQ(log.model().pools.Text(inputs.source[1]), "self.a.0.w");
  EXPECT_TRUE(inputs.is_parameter[1]);
  const auto& graphs = log.model().tables.Get<CompileGraphTable>();
  EXPECT_EQ(graphs.hash[0], graphs.hash[1]);
}

TEST(CompileModules, TreeOfParameters) {
  CompileLogBuilder log;
  log.Log(0).Add({.payload = kFirst, .kind = kDynamo});
  log.Run(compile_modules::Describe());
  const auto& table = log.model().tables.Get<CompileModuleTable>();
  std::string text;
  for (size_t i = 0; i < table.size(); ++i) {
    text +=
        fmt::format("{} in {}: {} {} {} {} {};", log.model().pools.Text(table.path[i]),
                    log.model().pools.Text(table.parent[i]), table.parameters[i], table.bytes[i],
                    table.total_bytes[i], log.model().pools.Text(table.shapes[i]), table.nodes[i]);
  }
  EXPECT_EQ(
      text,
      "self in : 0 0 32  0;self.a in self: 0 0 32  0;self.a.0 in self.a: 1 32 32 w f32[8] 1;");
}

}  // namespace compile_graphs_test
}  // namespace debrief::analyses
