// Marks before lines that log services, hosts and loggers put there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "torch/prefixes/foreign_heads.h"
#include "torch/prefixes/line_prefix.h"
#include "torch/prefixes/line_starts.h"
#include "torch/prefixes/rank_heads.h"
#include "torch/prefixes/wrapped_lines.h"

namespace debrief::line_marks_test {

std::string Unwrapped(std::string_view line) {
  std::string text;
  UnwrapLine(line, text);
  return text;
}

TEST(WrappedLines, RecordsBecomeMarkedLines) {
  EXPECT_EQ(Unwrapped(R"({"log":"a\tb\n","stream":"stderr","time":"2026-11-15T23:22:09.5Z"})"),
            "2026-11-15T23:22:09.5Z a\tb");
  EXPECT_EQ(Unwrapped(R"({"message":"a\nb","logStreamName":"job/algo-3-1794650400"})"),
            "[pod/algo-3/log] a\n[pod/algo-3/log] b");
  EXPECT_EQ(Unwrapped(R"({"MESSAGE":"a","_HOSTNAME":"n1","_PID":"47"})"), "(log pid=47, ip=n1) a");
  EXPECT_EQ(Unwrapped(R"({"event":"a","level":"error","rank":3,"exception":"b"})"),
            "[RANK 3] a\n[RANK 3] b");
  EXPECT_EQ(Unwrapped(R"({"message":"\u00fc\ud800","timestamp":1794650400000})"),
            "2026-11-14T10:00:00.000000Z \xC3\xBC?");
}

TEST(WrappedLines, OtherLinesStay) {
  for (std::string_view line :
       {"text", "{", R"({"message":"cut)", R"({"step": 3, "loss": 1.5, "message": "x", "time": 1})",
        R"({"message": "nothing else is known"})"})
    EXPECT_EQ(Unwrapped(line), line);
  EXPECT_FALSE(IsWrappedText("step 1\nstep 2\n"));
  EXPECT_FALSE(IsWrappedText(""));
  EXPECT_TRUE(IsWrappedText("{\"log\":\"a\",\"time\":\"x\"}\n{\"log\":\"b\",\"ti"));
}

TEST(WrappedLines, ARecordThatIsCutIsStillOne) {
  const PrefixStyle style = DetectPrefixStyle("{\"log\":\"a line without an end");
  EXPECT_TRUE(style.wrapped);
  EXPECT_EQ(style.labels, LineLabels::kNone);
}

TEST(SyslogMarks, HostProgramAndTime) {
  PeeledLine line{.text = "Nov  5 23:22:09 gpu07 trainer-rank3[4711]:   File"};
  ASSERT_TRUE(TakeSyslogMark(line));
  EXPECT_EQ(line.text, "  File");
  EXPECT_EQ(line.host, "gpu07");
  EXPECT_EQ(line.pid, 4711);
  EXPECT_EQ(line.rank, 3);
  EXPECT_EQ(line.kept->day, 5);
  PeeledLine iso{.text = "2026-11-15T23:22:09+00:00 gpu07 python3[4711]: text"};
  ASSERT_TRUE(TakeSyslogMark(iso));
  EXPECT_NE(iso.time_ns, kNone64);
  for (std::string_view text :
       {"Nov 15 23:22:09 gpu07 kernel: Out of memory", "Nov 15 23:22:09",
        "Nov 15 23:22:09 gpu07 systemd[1]: Started.", "Nov xx 23:22:09 a b[1]: c"}) {
    PeeledLine other{.text = text};
    EXPECT_FALSE(TakeSyslogMark(other)) << text;
  }
}

TEST(RankHeads, ManyForms) {
  for (std::string_view text :
       {"[2026-11-15 23:22:09,590][rank 5/8][INFO]   text",
        "2026-11-15 23:22:09 | rank5 | INFO |   text",
        "2026-11-15 23:22:09,590 - RANK=5 - ERROR -   text", "(rank 5)   text", "Rank 5:   text"}) {
    PeeledLine line{.text = text};
    ASSERT_TRUE(TakeRankHead(line)) << text;
    EXPECT_EQ(line.rank, 5) << text;
    EXPECT_EQ(line.text, "  text") << text;
  }
  for (std::string_view text :
       {"rank 5 is ready", "the ranks: 5", "[PG ID 0 PG GUID 0 Rank 5] text", "crank 5: x"}) {
    PeeledLine line{.text = text};
    EXPECT_FALSE(TakeRankHead(line)) << text;
  }
  EXPECT_TRUE(HasRankHeads("[rank 0/2] a\n[rank 1/2] a\n[rank 0/2] b\n[rank 1/2] b\n"));
  EXPECT_FALSE(HasRankHeads("rank 0: ok\nrank 1: ok\nrank 2: ok\nrank 3: ok\n"));
}

TEST(ForeignHeads, AroundTracebacks) {
  const std::string text =
      "[17/train (pid 7)] step 1\n[17/train (pid 7)] Traceback (most recent call last):\n[17/train "
      "(pid 7)]   File "
      "\"a.py\", line 7, in f\n[17/train (pid 7)] ValueError: x\n";
  const PrefixStyle style = DetectPrefixStyle(text);
  ASSERT_EQ(style.heads, std::vector<std::string>{"[0/train (pid 0)] "});
  EXPECT_EQ(PeelPrefixes("[18/train (pid 9)]   File \"b.py\"", style).text, "  File \"b.py\"");
  EXPECT_EQ(PeelPrefixes("step [18/train (pid 9)]", style).text, "step [18/train (pid 9)]");
}

TEST(ForeignHeads, EndWhereMarksBegin) {
  std::string text;
  for (int i = 0; i < 4; ++i)
    text += fmt::format("[807{}] [rank{}]:[E1115 23:22:09.5 ProcessGroupNCCL.cpp:6] x\n", i, i);
  const PrefixStyle style = DetectPrefixStyle(text);
  ASSERT_EQ(style.heads, std::vector<std::string>{"[0] "});
  EXPECT_EQ(PeelPrefixes("[9] [rank3]: KeyError: 'a'", style).rank, 3);
}

TEST(ForeignHeads, WhatIsNone) {
  // A group of exceptions, what PyTorch's logger caught, a traceback behind another message.
  for (std::string_view text :
       {"  | Traceback (most recent call last):\n  |   File \"a.py\", line 7, in f\n",
        "E1115 23:22:09.590000 13 torch/a.py:21] Traceback (most recent call last):\n"
        "E1115 23:22:09.590000 13 torch/a.py:21]   File \"a.py\", line 7, in f\n",
        "it failed: Traceback (most recent call last):\n  File \"a.py\", line 7, in f\n"})
    EXPECT_TRUE(DetectPrefixStyle(text).heads.empty()) << text;
}

TEST(ForeignHeads, TellTimeAndProcess) {
  PeeledLine line{.text = "2026-11-15 23:22:09.977 [7/train (pid 28936)] text"};
  ASSERT_TRUE(TakeForeignHead(line, {"0-0-0 0:0:0.0 [0/train (pid 0)] "}));
  EXPECT_EQ(line.pid, 28936);
  EXPECT_NE(line.time_ns, kNone64);
  EXPECT_EQ(line.text, "text");
}

TEST(LinePrefix, SageMakersMark) {
  const PeeledLine line = PeelPrefixes("[1,mpirank:3,algo-2]<stderr>:text", {});
  EXPECT_EQ(line.rank, 3);
  EXPECT_EQ(line.text, "text");
}

TEST(LineStarts, TimesThatNoProcessPutThere) {
  for (std::string_view text :
       {"[2026-11-15 23:22:09] text", "2026-11-15 23:22:09.123 text", "Nov 15 23:22:09 text",
        "23:22:09 text", "2026-11-15T23:22:09+00:00\ttext", "[23:22:09.123] text"}) {
    PeeledLine line{.text = text};
    ASSERT_TRUE(TakeStamp(line)) << text;
    EXPECT_EQ(line.text, "text") << text;
  }
  for (std::string_view text : {"2026-11-15 text", "[2026-11-15 23:22:09 text", "12:30 text", "",
                                "[2026-11-15 23:22:09][INFO] text"}) {
    PeeledLine line{.text = text};
    EXPECT_FALSE(TakeStamp(line)) << text;
  }
  const std::string_view logger =
      "2026-11-15 23:22:09 INFO a\n2026-11-15 23:22:10 INFO b\n"
      "2026-11-15 23:22:11 INFO c\n2026-11-15 23:22:12 INFO d\n";
  EXPECT_FALSE(HasStamps(logger)) << "a logger's own";
  const std::string stamped = std::string(logger) + "2026-11-15 23:22:13 [rank0]: ValueError: x\n";
  EXPECT_TRUE(HasStamps(stamped));
  EXPECT_EQ(
      PeelPrefixes("2026-11-15 23:22:13 [rank2]: ValueError: x", DetectPrefixStyle(stamped)).rank,
      2);
}

}  // namespace debrief::line_marks_test
