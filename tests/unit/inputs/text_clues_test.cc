#include "inputs/text_clues.h"

#include <gtest/gtest.h>

namespace debrief {
namespace text_clues_test {

constexpr int64_t kNow = 1'794'800'000'000'000'000;  // November 2026

TextClues Read(std::string_view text) { return CluesOfText(text, "", kNow); }

TEST(TextClues, OneRank) {
  TextClues clues = Read(
      "step 1\n[rank3]:[E1115 23:21:19.559680235 ProcessGroupNCCL.cpp:689] [Rank 1] Watchdog\n"
      "[rank3]: Traceback (most recent call last):\n");
  EXPECT_EQ(clues.OnlyRank(), 3);
  EXPECT_TRUE(clues.is_output);
  EXPECT_NE(clues.start_ns, kNone64);
  EXPECT_EQ(clues.start_ns, clues.end_ns);
}

TEST(TextClues, TeeLabelsAreLocalRanks) {
  TextClues clues = Read("[default0]:step 1\n[default1]:[rank5]:[E1115 23:21:19.5 a.cpp:1] x\n");
  EXPECT_TRUE(clues.is_labelled);
  EXPECT_EQ(clues.OnlyRank(), kNone32);
  EXPECT_EQ(clues.ranks, std::vector<int32_t>{5});
  EXPECT_EQ(Read("[rank1]:[rank5]:[E1115 23:21:19.5 a.cpp:1] x\n").OnlyRank(), 5)
      << "the inner one is global";
}

TEST(TextClues, LabelsOfSrunAndMpirun) {
  EXPECT_EQ(Read("3: a\n3: b\n3: c\n").OnlyRank(), 3);
  EXPECT_TRUE(Read("3: a\n4: b\n3: c\n").several);
  EXPECT_EQ(Read("0: a\n").OnlyRank(), kNone32) << "too few lines to tell";
  EXPECT_EQ(Read("[1,7]<stdout>:a\n[1,7]<stderr>: b\n[1,7][n2:4]<stdout>: c\n").OnlyRank(), 7);
}

TEST(TextClues, ContainersAndRay) {
  EXPECT_TRUE(Read("[pod/a-0/c] x\n[pod/a-1/c] y\n").is_labelled);
  EXPECT_TRUE(Read("(W pid=1, ip=10.0.0.2) x\n(W pid=2) y\n").is_labelled);
  EXPECT_EQ(Read("2026-11-15T23:22:09.123456789Z [rank4]: Traceback\n").OnlyRank(), 4);
}

TEST(TextClues, NcclNamesProcessAndRank) {
  TextClues clues = Read(
      "vm:1327:1327 [0] NCCL INFO ncclCommInitRankConfig comm 0x1 rank 1 nranks 8 cudaDev 0\n"
      "vm:1327:1400 [0] NCCL INFO ncclCommSplit comm 0x2 rank 0 nranks 2 cudaDev 0\n");
  EXPECT_EQ(clues.OnlyRank(), 1);
  EXPECT_EQ(clues.world_size, 8);
  EXPECT_EQ(clues.pid, 1327);
  EXPECT_EQ(clues.host, "vm");
}

TEST(TextClues, LauncherNamesItsNode) {
  TextClues clues = Read(
      "E1115 23:24:53.864000 1 torch/distributed/elastic/multiprocessing/api.py:986] failed "
      "(exitcode: 1) local_rank: 1 (pid: 1821) of binary: python\n"
      "E1115 23:25:38.911000 1 torch/distributed/elastic/multiprocessing/api.py:986] failed "
      "(exitcode: -6) local_rank: 3 (pid: 1924) of binary: python\n"
      "  rank      : 5 (local_rank: 1)\n  exitcode  : -9 (pid: 1924)\n");
  EXPECT_TRUE(clues.is_launcher);
  EXPECT_EQ(clues.first_rank, 4);
  EXPECT_EQ(clues.restarts.size(), 1u) << "the last failure ended the job";
  ASSERT_EQ(clues.processes.size(), 1u);
  EXPECT_EQ(clues.processes[0], std::pair(int64_t{1924}, 5));
  EXPECT_EQ(clues.OnlyRank(), kNone32);
}

TEST(TextClues, WhatAProgramSays) {
  EXPECT_EQ(Read("rank 3 done\n").said_rank, 3);
  EXPECT_EQ(Read("rank 3 done\nrank 4 done\n").said_rank, kNone32);
  EXPECT_EQ(Read("Rank 3 crashed with exit code -9.\n").said_rank, kNone32);
  EXPECT_EQ(Read("Rank 0      Rank 1\n").said_rank, kNone32);
}

TEST(TextClues, HostileTexts) {
  EXPECT_FALSE(Read("").is_output);
  EXPECT_EQ(Read("[rank]: x\n[rank99999999999999]: y\n[]: z\n").OnlyRank(), kNone32);
  EXPECT_EQ(Read(" NCCL \n: NCCL INFO\n:: NCCL INFO rank x nranks y\n").pid, kNone64);
  Read(std::string(100'000, '['));
  Read(std::string(100'000, '\n'));
}

TEST(TextClues, TimesAndHostsBeforeEveryLine) {
  TextClues clues = Read(
      "[2026-11-15 23:22:09] [default0]:step 1\n[2026-11-15 23:22:10] [default1]:step 1\n"
      "[2026-11-15 23:22:11] [default1]:[rank5]: Traceback (most recent call last):\n"
      "[2026-11-15 23:22:11] [default1]:[rank5]: ValueError: x\n");
  EXPECT_TRUE(clues.is_labelled);
  EXPECT_EQ(clues.ranks, std::vector<int32_t>{5});
  EXPECT_EQ(clues.end_ns - clues.start_ns, 2'000'000'000);
  clues = Read(
      "worker-0: vm:7:7 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0\n"
      "worker-1: vm:8:8 [0] NCCL INFO ncclCommInitRank comm 0x2 rank 1 nranks 2 cudaDev 0\n"
      "worker-0: step 1\nworker-1: step 1\n");
  EXPECT_EQ(clues.world_size, 2);
  EXPECT_TRUE(clues.several);
}

TEST(TextClues, ALauncherOfOneProcess) {
  const std::string
      own = "[rank5]: ValueError: x\n",
      block =
          "E1115 23:24:53.864000 1 torch/distributed/elastic/multiprocessing/api.py:986] failed "
          "(exitcode: 1) local_rank: 0 (pid: 77) of binary: python\n"
          "  rank      : 5 (local_rank: 0)\n  exitcode  : 1 (pid: 77)\n";
  EXPECT_EQ(Read(own + block).OnlyRank(), 5);
  EXPECT_EQ(Read("[rank4]: ValueError: x\n" + block).OnlyRank(), kNone32);
  EXPECT_EQ(Read("W1115 23:24:53.864000 1 torch/distributed/elastic/multiprocessing/api.py:1012] "
                 "Sending process 76 closing signal SIGTERM\n" +
                 own + block)
                .OnlyRank(),
            kNone32)
      << "it has another process";
}

TEST(TextClues, CommunicatorsOfSomeRanks) {
  TextClues clues = Read(
      "vm:7:7 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0\n"
      "vm:8:8 [1] NCCL INFO ncclCommInitRank comm 0x2 rank 0 nranks 2 cudaDev 1\n");
  EXPECT_EQ(clues.world_size, kNone32);
  EXPECT_TRUE(clues.processes.empty());
}

TEST(TextClues, NumbersOfGloo) {
  const std::string all =
      "[./gloo/transport/tcp/context.cc:243] INFO Rank 2 is connected to 3. Expected number of "
      "connected peers is: 3\n";
  const std::string some =
      "[Gloo] Rank 0 is connected to 1 peer ranks. Expected number of connected peer ranks is : "
      "1\n";
  EXPECT_EQ(Read(all + some).connected_rank, 2);
  EXPECT_EQ(Read(some + all).world_size, 4);
  EXPECT_EQ(Read(some).connected_rank, 0);
  EXPECT_EQ(Read(all + "[./gloo/transport/tcp/context.cc:243] INFO Rank 1 is connected to 3. "
                       "Expected number of connected peers is: 3\n")
                .connected_rank,
            kNone32)
      << "the text of several";
}

TEST(TextClues, ColoursBeforeTimes) {
  TextClues clues = Read(
      "\x1b[32m[2026-11-15 23:21:19] \x1b[0m[rank3]: Traceback (most recent call last):\n"
      "\x1b[32m[2026-11-15 23:21:19] \x1b[0m[rank3]: ValueError: x\n");
  EXPECT_EQ(clues.OnlyRank(), 3);
}

}  // namespace text_clues_test
}  // namespace debrief
