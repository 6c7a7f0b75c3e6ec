// Printed stacks: every tool's lines, which thread is the main one, whose stack it is, what it
// does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "inputs/stack_rows.h"
#include "inputs/text_lines.h"
#include "tables/stack_dump.h"
#include "torch/stacks/stack_lines.h"
#include "torch/stacks/stack_roles.h"
#include "torch/stacks/stack_text.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace process_stacks_test {

std::string StackRows(const Part& part) {
  const auto& table = part.tables.Get<StackDumpTable>();
  std::string text;
  for (size_t i = 0; i < table.size(); ++i) {
    text += fmt::format("{}:{}{}{} {}", table.rank[i], table.dump[i], table.main[i] ? " main" : "",
                        table.child[i] ? " child" : "", part.pools.Text(table.source[i]));
    if (table.error[i] != StringId::kNone)
      text += fmt::format(" error {}", part.pools.Text(table.error[i]));
    for (FrameId id : part.pools.GetStack(table.stack[i])) {
      const Frame& frame = part.pools.GetFrame(id);
      text += fmt::format(" {}@{}:{}", part.pools.Text(frame.function), part.pools.Text(frame.file),
                          frame.line);
    }
    text += ";";
  }
  return text;
}

std::string StacksOf(std::string_view text) {
  std::string rows = StackRows(testing::ImportBytes("process_stacks", text, 1 << 20));
  for (uint64_t chunk : {1U, 7U, 100U})
    EXPECT_EQ(StackRows(testing::ImportBytes("process_stacks", text, chunk)), rows);
  return rows;
}

TEST(ProcessStacks, TheDebugServerTellsRanksAndErrors) {
  EXPECT_EQ(StacksOf("=== Rank 3: http://n0:1/handler/dump_traceback? ===\n"
                     "Current thread 0x01 (most recent call first):\n  <no Python frame>\n\n"
                     "Thread 0x02 (most recent call first):\n  File \"a.py\", line 4 in f\n"
                     "  File \"a.py\", line 9 in <module>\n\n"
                     "=== Rank 4: http://n0:1/handler/dump_traceback? ===\nError: 408\n"),
            "3:0 torch_debug;3:0 main torch_debug f@a.py:4 <module>@a.py:9;"
            "4:1 torch_debug error 408;");
}

TEST(ProcessStacks, AThreadThatComesAgainBeginsTheNextDump) {
  EXPECT_EQ(StacksOf("Thread 0x02 (most recent call first):\n  File \"a.py\", line 4 in f\n\n"
                     "Thread 0x02 (most recent call first):\n  File \"a.py\", line 5 in f\n"),
            "5:0 main faulthandler f@a.py:4;5:1 main faulthandler f@a.py:5;");
}

TEST(ProcessStacks, ATextMayBeginWithABracket) {
  EXPECT_EQ(StacksOf("[rank4]: hello\nFatal Python error: Segmentation fault\n\n"
                     "Current thread 0x02 (most recent call first):\n"
                     "  File \"a.py\", line 4 in f\n  File \"a.py\", line 9 in <module>\n"),
            "4:0 main faulthandler f@a.py:4 <module>@a.py:9;");
}

// Its other lines may say why: whoever reads those finds the stacks, too.
TEST(ProcessStacks, AnOutputThatEndsInACrashIsNoFileOfStacks) {
  std::string stack =
      "Fatal Python error: Aborted\n\nCurrent thread 0x02 (most recent call first):\n";
  for (int i = 0; i < 40; ++i) stack += "  File \"a.py\", line 4 in f\n";
  auto is_mine = [](std::string_view text) {
    return testing::FindImporter("process_stacks")->sniff({.head = text, .whole = true}).mine;
  };
  EXPECT_TRUE(is_mine(stack));
  EXPECT_FALSE(is_mine("[rank4]:[W1115 23:22:28.258 U.hpp:1] Warning: old\n" + stack));
  EXPECT_FALSE(is_mine("step 1 loss 2.0\n" + stack));
}

TEST(ProcessStacks, WindowsLineEndsAndMissingLines) {
  EXPECT_EQ(StacksOf("Timeout (0:00:16)!\r\nThread 0x02 (most recent call first):\r\n"
                     "  File \"a.py\", line ??? in f\r\n  ...\r\n"),
            "5:0 main faulthandler f@a.py:0;");
}

TEST(ProcessStacks, PySpyTellsChildrenAndNativeFrames) {
  EXPECT_EQ(
      StacksOf("Process 70: python a.py\nPython v3.12.3 (python)\n\n"
               "Thread 70 (idle): \"MainThread\"\n    f (a.py:4)\n        Arguments:\n"
               "            x: 1\n    at::g(int, int) (libtorch.so)\n----\n"
               "Process 71: python a.py\nPython v3.12.3 (python)\nParent Process 70: python\n\n"
               "Thread 71 (active): \"MainThread\"\n    h (b.py:1)\n"),
      "5:0 main py_spy f@a.py:4 at::g(int, int)@libtorch.so:0;5:1 main child py_spy h@b.py:1;");
}

TEST(ProcessStacks, RanksInHeadingsAndCommandLines) {
  std::string dump =
      "Python v3.12.3 (python)\n\nThread 70 (idle): \"MainThread\"\n    f (a.py:4)\n";
  EXPECT_EQ(StacksOf("==== rank 2 ====\nProcess 70: python a.py\n" + dump +
                     "\n==== rank 7 ====\nProcess 71: python a.py\n" + dump),
            "2:0 main py_spy f@a.py:4;7:1 main py_spy f@a.py:4;");
  EXPECT_EQ(StacksOf("Process 70: python a.py --rank=9\n" + dump), "9:0 main py_spy f@a.py:4;");
  EXPECT_EQ(stack_lines::RankOfCommand("python a.py --ranks 4"), kNone32);
  EXPECT_EQ(stack_lines::RankOfHeading("franks 4"), kNone32);
}

TEST(ProcessStacks, PystackIsTurnedRound) {
  EXPECT_EQ(StacksOf("Traceback for thread 9 (python3) [] (most recent call last):\n"
                     "    (Python) File \"a.py\", line 9, in <module>\n        f()\n"
                     "    (C) File \"x.c\", line 1, in g (libx.so)\n"),
            "5:0 main pystack g (libx.so)@x.c:1 <module>@a.py:9;");
}

TEST(ProcessStacks, AnOutputMayHaveThemBehindMarks) {
  Part part;
  auto source = MakeMemorySource(
      "[default3]:hello\n[default3]:Thread 0x01 (most recent call first):\n"
      "[default4]:Thread 0x01 (most recent call first):\n[default3]:  File \"a.py\", line 4 in f\n"
      "[default4]:  File \"a.py\", line 5 in g\n[rank6]:  File \"a.py\", line 5 in g\n");
  EXPECT_TRUE(inputs::AddStacksInText(*source, {.input = 0, .rank = 1}, part).ok());
  EXPECT_EQ(StackRows(part), "3:0 main faulthandler f@a.py:4;4:0 main faulthandler g@a.py:5;");
}

TEST(ProcessStacks, MarksMayHaveTimes) {
  Part part;
  auto source = MakeMemorySource(
      "2026-11-15T23:22:09.1Z [rank3]:Thread 0x01 (most recent call first):\n"
      "2026-11-15T23:22:09.2Z [rank3]:  File \"a.py\", line 4 in f\n");
  EXPECT_TRUE(inputs::AddStacksInText(*source, {.input = 0, .rank = 1}, part).ok());
  EXPECT_EQ(StackRows(part), "3:0 main faulthandler f@a.py:4;");
}

TEST(ProcessStacks, NamesMayHaveTimes) {
  EXPECT_EQ(inputs::TimeInName("stacks_19700102_000001.txt"), 86401LL * 1'000'000'000);
  EXPECT_EQ(inputs::TimeInName("stacks_1970_01.txt"), kNone64);
}

StackSummary Summary(const std::vector<FrameView>& frames) { return SummariseStack(frames); }

TEST(StackRoles, WaitsAreNamedByTheCollective) {
  StackSummary wait = Summary({{"torch/distributed/distributed_c10d.py", "all_gather", 1},
                               {"torch/distributed/distributed_c10d.py", "all_gather_object", 2},
                               {"torch/distributed/c10d_logger.py", "wrapper", 3},
                               {"train.py", "step", 4}});
  EXPECT_EQ(wait.doing, Doing::kWait);
  EXPECT_EQ(wait.what, "all_gather_object");
  EXPECT_EQ(wait.user, 3u);
  StackSummary pipe =
      Summary({{"/x/site-packages/torch/distributed/pipelining/schedules.py", "_w", 1},
               {"/home/me/pipe.py", "run", 4}});
  EXPECT_EQ(pipe.what, "a pipeline send or receive");
}

TEST(StackRoles, OwnWork) {
  EXPECT_EQ(Summary({{"threading.py", "wait", 1},
                     {"torch/utils/data/dataloader.py", "__next__", 1},
                     {"train.py", "step", 4}})
                .what,
            "the data loader");
  EXPECT_EQ(Summary({{"/lib/libc.so.6", "clock_nanosleep", 0}, {"/home/me/a.py", "f", 4}}).what,
            "sleep");
  EXPECT_EQ(Summary({{"/home/me/a.py", "f", 4}}).doing, Doing::kCall);
  EXPECT_EQ(
      Summary({{"/x/site-packages/requests/api.py", "get", 4}, {"/home/me/a.py", "f", 4}}).doing,
      Doing::kWork);
  EXPECT_EQ(
      Summary({{"torch/autograd/graph.py", "_engine_run_backward", 4}, {"a.py", "f", 4}}).doing,
      Doing::kDevice);
}

TEST(StackRoles, StartUpAndHelpers) {
  EXPECT_EQ(
      Summary({{"<frozen importlib._bootstrap>", "_find", 1}, {"train.py", "<module>", 3}}).doing,
      Doing::kStartUp);
  EXPECT_EQ(Summary({{"torch/distributed/elastic/agent/server/api.py", "_invoke_run", 1},
                     {"/usr/bin/torchrun", "<module>", 3}})
                .doing,
            Doing::kHelper);
  EXPECT_EQ(Summary({}).doing, Doing::kNothing);
}

}  // namespace process_stacks_test
}  // namespace debrief
