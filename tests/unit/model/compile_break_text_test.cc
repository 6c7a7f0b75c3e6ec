#include <gtest/gtest.h>

#include <string>

#include "analyses/compile/break_text.h"

namespace debrief {
namespace compile_break_text_test {

constexpr std::string_view kLogged =
    "Graph break in user code at /home/me/train.py:32\n"
    "Graph Break Reason: Failed to handle graph break gracefully. Graph break encountered:\n"
    "\n"
    "Failed to trace builtin operator\n"
    "  Explanation: Dynamo does not know `print`\n"
    "    and goes on here\n"
    "  Hint: Avoid it.\n"
    "  Hint: Report it.\n"
    "\n"
    "  Developer debug context: builtin print\n"
    "\n"
    " For more details about this graph break, please visit: https://site/gb0059.html\n"
    "\n"
    "*** While handling this graph break, another graph break occurred: ***\n"
    "\n"
    "graph break in loop\n"
    "  Explanation: of the second\n"
    "\n"
    "User code traceback:\n"
    "  File \"/home/me/train.py\", line 43, in <module>\n"
    "    train(net)\n"
    "  File \"/home/me/train.py\", line 32, in forward\n"
    "    print(\"here\")\n"
    "\n"
    "Traceback (most recent call last):\n"
    "  File \"/env/torch/x.py\", line 1, in wrapper\n";

TEST(BreakText, TakesAllPartsApart) {
  const BreakText text = ParseBreakText(kLogged);
  EXPECT_EQ(text.file, "/home/me/train.py");
  EXPECT_EQ(text.line, 32);
  EXPECT_EQ(text.reason, "Failed to trace builtin operator");
  EXPECT_EQ(text.explanation, "Dynamo does not know `print`\n    and goes on here");
  ASSERT_EQ(text.hints.size(), 2u);
  EXPECT_EQ(text.hints[1], "Report it.");
  EXPECT_EQ(text.context, "builtin print");
  EXPECT_EQ(text.link, "https://site/gb0059.html");
  EXPECT_EQ(text.also, "graph break in loop");
  ASSERT_EQ(text.frames.size(), 2u);
  EXPECT_EQ(text.frames[1].function, "forward");
  EXPECT_EQ(text.frames[1].line, 32);
  EXPECT_EQ(text.frames[1].code, "print(\"here\")");
}

TEST(BreakText, ReasonsOfRestartsBeginWithTheReason) {
  const BreakText text = ParseBreakText("Unsupported Tensor.item()\n  Hint: Set it.\n");
  EXPECT_EQ(text.reason, "Unsupported Tensor.item()");
  ASSERT_EQ(text.hints.size(), 1u);
  EXPECT_TRUE(text.file.empty());
  EXPECT_TRUE(text.frames.empty());
}

TEST(BreakText, OlderLogsHaveOneLine) {
  const BreakText text = ParseBreakText(
      "Graph break in user code at a.py:7\nReason: Unsupported: call_function\nUser code "
      "traceback:\n  File \"a.py\", line 7, in f\n");
  EXPECT_EQ(text.reason, "Unsupported: call_function");
  ASSERT_EQ(text.frames.size(), 1u);
  EXPECT_EQ(text.frames[0].file, "a.py");
}

constexpr std::string_view kSkipped =
    "Graph break: skip: from user code at:\n"
    "  File \"/home/me/train.py\", line 40, in g\n"
    "    raise RuntimeError(\"here\")\n"
    "\n"
    "Traceback (most recent call last):\n"
    "  File \"/env/torch/x.py\", line 7, in step\n"
    "torch._dynamo.exc.ObservedException: raised\n"
    "\n"
    "Traceback (most recent call last):\n"
    "  File \"/env/torch/x.py\", line 9, in handler\n"
    "torch._dynamo.exc.Unsupported: Observed exception\n"
    "  Hint: Catch it.\n"
    "\n"
    "from user code:\n"
    "   File \"/home/me/train.py\", line 40, in g\n";

TEST(BreakText, OfASkippedFrameTheExceptionHasTheReason) {
  ASSERT_TRUE(IsSkippedFrame(kSkipped));
  const BreakText text = ParseBreakText(kSkipped);
  EXPECT_EQ(text.reason, "Observed exception");
  ASSERT_EQ(text.frames.size(), 1u);
  EXPECT_EQ(text.frames[0].line, 40);
  ASSERT_EQ(text.hints.size(), 1u);
  EXPECT_EQ(text.hints[0], "Catch it.");
  for (size_t bytes = 0; bytes <= kSkipped.size(); ++bytes) {
    const std::string cut(kSkipped.substr(0, bytes));
    EXPECT_LE(ParseBreakText(cut).reason.size(), cut.size());
  }
}

TEST(BreakText, LimitsAndResumedFunctions) {
  EXPECT_TRUE(NamesRecompileLimit("Dynamo recompile limit exceeded\n  Explanation: ..."));
  EXPECT_TRUE(NamesRecompileLimit("Dynamo cache limit exceeded"));
  EXPECT_TRUE(NamesRecompileLimit("cache_size_limit reached"));
  EXPECT_TRUE(NamesRecompileLimit("torch._dynamo hit config.recompile_limit (8)"));
  EXPECT_FALSE(NamesRecompileLimit("Observed exception\n  Hint: raise recompile_limit"));
  EXPECT_TRUE(StaysAtRecompileLimit("Unsupported", "Dynamo recompile limit exceeded"));
  EXPECT_FALSE(StaysAtRecompileLimit("FailOnRecompileLimitHit", "recompile_limit reached"));
  EXPECT_EQ(ResumedFunction("torch_dynamo_resume_in_f_at_31"), "f");
  EXPECT_EQ(ResumedFunction("forward"), "forward");
}

TEST(BreakText, EveryPrefixIsTakenWithoutHarm) {
  for (size_t bytes = 0; bytes <= kLogged.size(); ++bytes) {
    const std::string cut(kLogged.substr(0, bytes));  // a copy: reading behind its end shows
    const BreakText text = ParseBreakText(cut);
    EXPECT_LE(text.reason.size(), cut.size());
    Pools pools;
    AddTextStack(text.frames, pools);
  }
}

TEST(BreakText, StackIsInnermostFirst) {
  Pools pools;
  const StackId stack = AddTextStack(ParseBreakText(kLogged).frames, pools);
  ASSERT_EQ(pools.GetStack(stack).size(), 2u);
  EXPECT_EQ(pools.GetFrame(pools.GetStack(stack)[0]).line, 32);
  EXPECT_EQ(AddTextStack({}, pools), StackId::kNone);
}

TEST(BreakText, ShortReason) {
  EXPECT_EQ(ShortReason("one\ntwo"), "one");
  EXPECT_EQ(ShortReason("backend='b' raised:\nRuntimeError: no\nmore"),
            "backend='b' raised: RuntimeError: no");
  EXPECT_EQ(ShortReason("ends:"), "ends:");
  EXPECT_EQ(ShortReason("\n \n"), "");
}

}  // namespace compile_break_text_test
}  // namespace debrief
