// Marks of launchers at the start of lines.
#include "torch/prefixes/line_prefix.h"

#include <gtest/gtest.h>

#include <string>

namespace debrief {
namespace line_prefix_test {

PeeledLine Peel(std::string_view line, const PrefixStyle& style = {}) {
  return PeelPrefixes(line, style);
}

TEST(LinePrefix, MarksOfPyTorchAndTorchrun) {
  PeeledLine line = Peel("[default3]:[rank11]:[E1115 02:42:35.285 P.cpp:689] text");
  EXPECT_EQ(line.local_rank, 3);
  EXPECT_EQ(line.rank, 11);
  EXPECT_EQ(line.text, "[E1115 02:42:35.285 P.cpp:689] text");
  EXPECT_FALSE(line.raised);
  line = Peel("[rank3]:   File \"train.py\", line 3, in f");
  EXPECT_EQ(line.rank, 3);
  EXPECT_EQ(line.text, "  File \"train.py\", line 3, in f");
  EXPECT_TRUE(line.raised);
  EXPECT_EQ(Peel("[default0]:  indented").text, "  indented");
  EXPECT_EQ(Peel("[worker12]:text").local_rank, 12);
  EXPECT_EQ(Peel("[step3]: a log line").text, "[step3]: a log line");
}

TEST(LinePrefix, ARoleThatIsCalledRank) {
  PrefixStyle style = DetectPrefixStyle(
      "[rank0]:[titan] 2026-11-15 23:22:09,590 - root - INFO - step:  1  loss: 8.1\n"
      "[rank1]:[rank9]:[E1115 02:42:35.285 P.cpp:689] text\n");
  EXPECT_TRUE(style.tee_says_rank);
  PeeledLine line = Peel("[rank1]:[rank9]:[E1115 02:42:35.285 P.cpp:689] text", style);
  EXPECT_EQ(line.local_rank, 1);
  EXPECT_EQ(line.rank, 9);
  EXPECT_EQ(Peel("[rank1]:hello", style).local_rank, 1);
  EXPECT_FALSE(DetectPrefixStyle("[rank0]: Traceback\n[rank0]:[W1115 02:42:35.2 P.cpp:1] a\n")
                   .tee_says_rank);
}

TEST(LinePrefix, MarksOfMpirun) {
  PeeledLine line = Peel("[1,3]<stdout>:text");
  EXPECT_EQ(line.rank, 3);
  EXPECT_EQ(line.text, "text");
  EXPECT_EQ(Peel("[1,3]<stdout>: text").text, "text");
  line = Peel("[prterun-n1-7@1,3][n2:4711]<stderr>: text");
  EXPECT_EQ(line.rank, 3);
  EXPECT_EQ(line.pid, 4711);
  EXPECT_EQ(line.host, "n2");
  EXPECT_EQ(Peel("[3]<stdout>: text").rank, 3);
  EXPECT_EQ(Peel("Sun Nov 15 23:22:09 2026[1,3]<stdout>:text").rank, 3);
}

TEST(LinePrefix, MarksOfContainers) {
  PeeledLine line = Peel("[pod/job-worker-1/pytorch] 2026-11-15T23:22:09.123456789Z [rank3]: text");
  EXPECT_EQ(line.host, "job-worker-1");
  EXPECT_EQ(line.rank, 3);
  EXPECT_EQ(line.text, "text");
  EXPECT_NE(line.time_ns, kNone64);
  EXPECT_EQ(Peel("2026-11-15T23:22:09.123456789Z stderr F text").text, "text");
  EXPECT_EQ(Peel("2026-11-15T23:22:09.123456789Z text of a pod").text, "text of a pod");
  EXPECT_EQ(Peel("2026-11-15 23:22:09,590 a log line").text, "2026-11-15 23:22:09,590 a log line");
}

TEST(LinePrefix, MarksOfRayAndLoggers) {
  PeeledLine line = Peel("(RayTrainWorker pid=75298, ip=10.0.0.2) text");
  EXPECT_EQ(line.pid, 75298);
  EXPECT_EQ(line.host, "10.0.0.2");
  EXPECT_EQ(line.text, "text");
  EXPECT_EQ(Peel("(pid=7) text").pid, 7);
  EXPECT_EQ(Peel("(pid=7) text [repeated 3x across cluster]").text, "text");
  EXPECT_EQ(
      Peel("(pid=7) text [repeated 12x across cluster] (Ray deduplicates logs by default. Set "
           "RAY_DEDUP_LOGS=0 to disable)")
          .text,
      "text");
  EXPECT_EQ(Peel("(pid=7) [repeated x across cluster] text").text,
            "[repeated x across cluster] text");
  EXPECT_EQ(Peel("(see pid=7) text").pid, 7);
  EXPECT_EQ(Peel("(a remark) text").text, "(a remark) text");
  EXPECT_EQ(Peel("[RANK 3] text").rank, 3);
  EXPECT_EQ(Peel("[Rank 3] Watchdog caught").rank, kNone32) << "a rank inside of a group";
}

TEST(LinePrefix, LabelsOfSrun) {
  PrefixStyle style = DetectPrefixStyle(" 3: a\n11: b\n 3: c\n11: d\n");
  EXPECT_EQ(style.labels, LineLabels::kColon);
  EXPECT_FALSE(style.label_is_node);
  EXPECT_EQ(Peel("11: text", style).rank, 11);
  EXPECT_EQ(Peel("11: text").text, "11: text");
  style = DetectPrefixStyle("P0 0: a\nP1 1: b\nP0 0: c\nP1 1: d\n");
  EXPECT_EQ(Peel("P1 1: text", style).rank, 1);
}

TEST(LinePrefix, ALabelOfANode) {
  PrefixStyle style =
      DetectPrefixStyle("0: [default0]:a\n1: [default0]:b\n0: [default1]:c\n1: [default1]:d\n");
  EXPECT_TRUE(style.label_is_node);
  PeeledLine line = Peel("1: [default3]:text", style);
  EXPECT_EQ(line.host, "1");
  EXPECT_EQ(line.local_rank, 3);
  EXPECT_EQ(line.rank, kNone32);
}

TEST(LinePrefix, HostsOfPdsh) {
  PrefixStyle style = DetectPrefixStyle(
      "worker-0: a\nworker-1: b\nworker-0: c\nworker-1: d\nworker-0: [rank0]: e\n");
  EXPECT_TRUE(style.hosts);
  EXPECT_EQ(Peel("worker-1: [rank3]: text", style).host, "worker-1");
  EXPECT_EQ(Peel("worker-1: [rank3]: text", style).rank, 3);
  EXPECT_FALSE(DetectPrefixStyle("INFO: a\nINFO: b\nINFO: c\nINFO: d\n").hosts);
}

}  // namespace line_prefix_test
}  // namespace debrief
