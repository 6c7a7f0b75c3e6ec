// Counting collectives in Python, and comparing the counts with schedules.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyses/compile/parity/collective_counts.h"
#include "tables/compile_parity.h"
#include "unit/analyses/compile/log_builder.h"

namespace debrief::analyses::compile_parity {

const Analysis& Describe();

namespace compile_parity_test {

std::string Counted(std::string_view code) {
  CollectiveCounts counts = CountCalls(code);
  std::string text;
  for (size_t i = 0; i < kCollectives.size(); ++i) {
    if (counts.by_kind[i] > 0) text += fmt::format("{} {} ", kCollectives[i], counts.by_kind[i]);
  }
  return text + fmt::format("waits {}", counts.waits);
}

TEST(CompileParity, CountsCalls) {
  EXPECT_EQ(Counted("torch.ops._c10d_functional.all_reduce_.default(x)"), "all_reduce 1 waits 0");
  EXPECT_EQ(Counted("b=torch . ops\n. c10d_functional .all_gather_into_tensor_out. default (x)"),
            "all_gather 1 waits 0");
  EXPECT_EQ(Counted("torch.ops._c10d_functional.reduce_scatter_tensor.default("),
            "reduce_scatter 1 waits 0");
  EXPECT_EQ(Counted("torch.ops._c10d_functional.reduce_.default("), "reduce 1 waits 0");
  EXPECT_EQ(Counted("torch.ops._c10d_functional.all_to_all_single.default(\n"
                    "torch.ops._c10d_functional.broadcast_.default(\n"
                    "torch.ops._c10d_functional.wait_tensor.default(buf)"),
            "broadcast 1 all_to_all 1 waits 1");
}

TEST(CompileParity, IsNotFooled) {
  for (std::string_view code :
       {"# torch.ops._c10d_functional.all_reduce_.default(x)",
        "'torch.ops._c10d_functional.all_reduce_.default(x)'",
        "'''\ntorch.ops._c10d_functional.all_reduce_.default(x)\n'''",
        "\"\\\"torch.ops._c10d_functional.all_reduce_.default(x)\"",
        "torch.ops._c10d_functional.all_reduce_.default", "torch.ops._c10d_functional.all_reduce_",
        "torch.ops._c10d_functional.", "torch.ops.aten.all_reduce.default(x)",
        "torch.ops._c10d_functional.all_reduce_.out(x)",
        "mytorch.ops._c10d_functional.all_reduce_.default(x)",
        "torch.ops._c10d_functional.foo.default(x)", "", "'", "\"\"\"", "\\", "#"})
    EXPECT_EQ(Counted(code), "waits 0") << code;
}

TEST(CompileParity, GoesOnBehindWhatLooksLikeACall) {
  constexpr std::string_view kCall = "torch.ops._c10d_functional.all_reduce_.default(";
  for (std::string_view before :
       {"torch.", "torch.ops.", "torch.ops._c10d_functional.", "torch.ops._c10d_functional.x.",
        "don't\n", "a // b; ", "a < b; ", "''", "\"\"\"x\"\"\" ", "'a\\'b' ", "# it's\n"})
    EXPECT_EQ(Counted(fmt::format("{}{}", before, kCall)), "all_reduce 1 waits 0") << before;
}

std::string Parity(const Model& model) {
  const auto& table = model.tables.Get<CompileParityTable>();
  std::string text;
  for (size_t i = 0; i < table.size(); ++i) {
    text +=
        fmt::format("{} {} {} {} {};", table.rank[i], model.pools.Text(table.compile_id[i]),
                    model.pools.Text(table.graph[i]), table.difference[i], table.missing_waits[i]);
  }
  return text;
}

TEST(CompileParity, ComparesTheLastScheduleWithTheFirstCode) {
  constexpr std::string_view kSchedule = "inductor_collective_schedule";
  constexpr std::string_view kCode =
      "x = torch.ops._c10d_functional.all_reduce_.default(a)\n"
      "y = torch.ops._c10d_functional.all_gather.default(b)\n"
      "torch.ops._c10d_functional.wait_tensor.default(x)\n";
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = kSchedule, .payload = "[\"broadcast\", \"broadcast\", \"broadcast\"]"})
      .Add({.payload = kCode, .kind = "inductor_output_code"})
      .Add({.payload = "", .kind = "inductor_output_code"})
      .Add({.name = kSchedule, .payload = R"(["torch.ops._c10d_functional.all_reduce_.default",
 "torch.ops._c10d_functional.reduce_scatter_tensor.default", "unheard_of"])"})
      .Add({.name = kSchedule, .payload = "[]", .frame = 1})
      .Add({.payload = kCode, .frame = 1, .kind = "inductor_output_code"})
      .Add({.name = kSchedule, .payload = "[\"all_reduce\"]", .frame = 2})
      .Add({.payload = kCode, .frame = 3, .kind = "inductor_output_code"})
      .Add({.name = kSchedule, .payload = "[\"all_reduce\"", .frame = 4})
      .Add({.payload = kCode, .frame = 4, .kind = "inductor_output_code"})
      .Add({.name = kSchedule, .payload = "", .frame = 5})
      .Add({.payload = kCode, .frame = 5, .kind = "inductor_output_code"});
  log.Log(1)
      .Add({.payload = kCode, .kind = "inductor_output_code"})
      .Add({.name = kSchedule, .payload = "[\"all_reduce\", \"all_gather_into_tensor\"]"});
  log.Run(Describe());
  EXPECT_EQ(Parity(log.model()), "0 0/0 -_0_0_0 2 1;0 1/0 -_1_0_0 2 1;1 0/0 -_0_0_0 0 1;");
}

}  // namespace compile_parity_test
}  // namespace debrief::analyses::compile_parity
