#include <gtest/gtest.h>

#include "analyses/compile/modules/module_stacks.h"
#include "analyses/compile/text_logs/record_text.h"
#include "base/bytes/source.h"

namespace debrief::analyses::compile_text_logs {
namespace compile_text_logs_test {

TEST(RecordText, ReasonsAreThoseOfTheArtifact) {
  auto parsed = ParseRecompile(
      "Recompiling function f in /home/me/a:b.py:58\n"
      "    triggered by the following guard failure(s):\n"
      "    - 4/1: k == 1  # return x * k\n"
      "    - User stack trace:\n"
      "    -   File \"a.py\", line 60, in f\n"
      "    -     return x * k\n"
      "    - 4/0: flag == True");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->code.function, "f");
  EXPECT_EQ(parsed->code.file, "/home/me/a:b.py");
  EXPECT_EQ(parsed->code.line, 58);
  ASSERT_EQ(parsed->reasons.size(), 2U);
  EXPECT_EQ(parsed->reasons[0],
            "4/1: k == 1  # return x * k\nUser stack trace:\n  File \"a.py\", line 60, in f\n    "
            "return x * k");
  EXPECT_EQ(parsed->reasons[1], "4/0: flag == True");
}

TEST(RecordText, VerboseReasonsNeedNoId) {
  auto parsed = ParseRecompile(
      "Recompiling function f in a.py:1\n    triggered by the following guard failure(s):\n"
      "    guard 0 failures:\n    - L['x'] is None\n    guard 1 failures:\n    - 0/0: k == 1");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->reasons, (std::vector<std::string>{"L['x'] is None", "0/0: k == 1"}));
  EXPECT_FALSE(ParseRecompile("Compiling function f"));
  EXPECT_TRUE(ParseRecompile("Recompiling function ")->reasons.empty());
}

TEST(RecordText, ReasonsBeforeIds) {
  auto listed = ParseRecompile(
      "Recompiling function f in a.py:1\n    triggered by the following guard failure(s):\n"
      "    - tensor 'L['x']' size mismatch at index 0. expected 4, actual 6\n"
      "    - tensor 'L['x']' size mismatch at index 0. expected 5, actual 6");
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->reasons.size(), 2U);
  auto pair = ParseRecompile(
      "('Recompiling function f in a.py:1', \"triggered by the following guard failure: L['k'] == "
      "(1, 2)\")");
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->code.function, "f");
  EXPECT_EQ(pair->code.line, 1);
  EXPECT_EQ(pair->reasons, (std::vector<std::string>{"L['k'] == (1, 2)"}));
}

TEST(RecordText, FilesWithoutALine) {
  auto plain = ParseRecompile(
      "('Recompiling function f in /srv/a.py', \"triggered by the following guard failure: x\")");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->code.file, "/srv/a.py");
  EXPECT_EQ(plain->code.line, kNone32);
  EXPECT_EQ(ParseRecompile("Recompiling function f in E:\\net\\a.py")->code.file, "E:\\net\\a.py");
}

TEST(RecordText, StartsAndSuppressedErrors) {
  auto start = ParseStart("Step 1: torchdynamo start tracing f /home/me/a.py:7");
  ASSERT_TRUE(start);
  EXPECT_EQ(start->function, "f");
  EXPECT_EQ(start->line, 7);
  EXPECT_EQ(ParseStart("torchdynamo start compiling g b.py:9, stack (elided 4 frames):")->line, 9);
  EXPECT_FALSE(ParseStart("Step 1: torchdynamo done tracing f (RETURN_VALUE)"));
  auto failed = ParseSuppressed(
      "WON'T CONVERT f a.py line 7 \ndue to: \nTraceback (most recent call last):\n"
      "  File \"torch/_dynamo/x.py\", line 1, in g\n    h()\n"
      "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nValueError: no\n\n"
      "from user code:\n   File \"a.py\", line 9, in f\n    y = x\n\nSet TORCHDYNAMO_VERBOSE=1");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code.function, "f");
  EXPECT_EQ(failed->code.line, 7);
  EXPECT_EQ(failed->type, "torch._dynamo.exc.BackendCompilerFailed");
  EXPECT_TRUE(failed->reason.starts_with("backend='inductor' raised:\nValueError: no"));
  EXPECT_EQ(failed->user_line, 9);
}

TEST(RecordText, LimitOfNewAndOldVersions) {
  for (std::string_view name :
       {"recompile_limit", "cache_size_limit", "accumulated_recompile_limit"}) {
    const std::string text =  // which the answer is a view of
        "torch._dynamo hit config." + std::string(name) +
        " (8)\n   function: 'f' (a.py:7)\n   last reason: 0/7: k == 1\nTo log all";
    auto limit = ParseLimit(text);
    ASSERT_TRUE(limit) << name;
    EXPECT_EQ(limit->code.function, "f");
    EXPECT_EQ(limit->code.file, "a.py");
    EXPECT_EQ(limit->code.line, 7);
    EXPECT_EQ(limit->limit, 8);
    EXPECT_EQ(limit->reason, "0/7: k == 1");
  }
  EXPECT_FALSE(ParseLimit("torch._dynamo hit config.other"));
}

TEST(RecordText, StepsOfShapes) {
  auto symbol = ParseShape(
      "create_symbol s0 = 8 for L['x'].size()[0] [2, int_oo] a.py:9 in f (x.py:1 in g), for more "
      "info run with TORCH=1");
  ASSERT_TRUE(symbol);
  EXPECT_EQ(symbol->kind, "create_symbol");
  EXPECT_EQ(symbol->symbol, "s0");
  EXPECT_EQ(symbol->value, "8");
  EXPECT_EQ(symbol->source, "L['x'].size()[0]");
  EXPECT_EQ(symbol->range, "[2, int_oo]");
  auto unbacked = ParseShape("create_unbacked_symint u0 [-int_oo, int_oo] a.py:9 in f (x)");
  ASSERT_TRUE(unbacked);
  EXPECT_EQ(unbacked->symbol, "u0");
  EXPECT_EQ(unbacked->range, "[-int_oo, int_oo]");
  EXPECT_EQ(ParseShape("eval Eq(s0, 8) [guard added] a.py:9 in f")->expression, "Eq(s0, 8)");
  EXPECT_FALSE(ParseShape("eval Eq(s0, 8) == True"));
  EXPECT_FALSE(ParseShape("produce_guards"));
}

TEST(RecordText, BreaksAndSkips) {
  EXPECT_EQ(BreakTextOf("Graph break in user code at a.py:9\nGraph Break Reason: x"),
            "Graph break in user code at a.py:9\nGraph Break Reason: x");
  EXPECT_EQ(BreakTextOf("Graph break (user stack suppressed due to duplicate graph break) in user "
                        "code at a.py:9\nGraph Break Reason: x"),
            "Graph break in user code at a.py:9\nGraph Break Reason: x");
  EXPECT_EQ(BreakTextOf("Graph break from `Tensor.item()`, consider setting:"), "");
  EXPECT_EQ(
      BreakTextOf("Graph break: call print from user code at:\n  File \"a.py\", line 9, in f\n"
                  "    print(x)\n"),
      "Graph break in user code at a.py:9\nReason: call print\nUser code traceback:\n"
      "  File \"a.py\", line 9, in f\n    print(x)\n");
  EXPECT_EQ(
      ParseGraphSkip("skipping cudagraphs due to skipping cudagraphs due to ['mutated inputs']"),
      "mutated inputs");
  EXPECT_EQ(
      ParseGraphSizes("CUDAGraph supports dynamic shapes by it. We have observed 51 distinct"), 51);
  EXPECT_EQ(ParseGraphSkip("skipping cudagraphs due to cpu device (primals_1). Found from : \n  x"),
            "cpu device (primals_1)");
  EXPECT_FALSE(ParseGraphSkip("CUDAGraph supports dynamic shapes"));
}

TEST(ModuleStacks, PathsOfAllForms) {
  using compile_modules::ModulePath;
  EXPECT_EQ(ModulePath("L['self'].relu"), "self.relu");
  EXPECT_EQ(ModulePath("L['self']._modules['layers']._modules['0']"), "self.layers.0");
  EXPECT_EQ(ModulePath("L['self'].layers[0]"), "self.layers.0");
  EXPECT_EQ(ModulePath("getattr(L['self'].layers, '0')"), "self.layers.0");
  EXPECT_EQ(ModulePath("layers.0"), "self.layers.0");
  EXPECT_EQ(ModulePath(""), "self");
  EXPECT_EQ(ModulePath("L['net'].fc"), "net.fc");
}

TEST(ModuleStacks, ThreeFormsOfJson) {
  for (std::string text : {R"({"relu": [["k", ["L['self'].relu", "torch.nn.ReLU"]]]})",
                           R"({"relu": {"k": ["L['self'].relu", "torch.nn.ReLU"]}})",
                           R"({"relu": "k,relu,torch.nn.ReLU"})"}) {
    const size_t size = text.size();
    text.append(kPadding, '\0');
    JsonReader reader;
    auto stacks = compile_modules::ParseModuleStacks({text.data(), size}, reader);
    ASSERT_EQ(stacks["relu"].size(), 1U) << text;
    EXPECT_EQ(stacks["relu"][0].path, "self.relu");
    EXPECT_EQ(stacks["relu"][0].type, "torch.nn.ReLU");
  }
}

}  // namespace compile_text_logs_test
}  // namespace debrief::analyses::compile_text_logs
