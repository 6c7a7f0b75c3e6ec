// Ranks that took another way (circles, exchanges without another half), and jobs in which nothing
// is wrong: snapshots of running ones, empty dumps.
#include <gtest/gtest.h>

#include "unit/analyses/flight/dump_builder.h"

namespace debrief::analyses::flight {
namespace flight_paths_test {

Dumps Job(int64_t ranks) { return JobOf(ranks, "0", "default_pg"); }

// Ranks 0, 1 and 3 enter group a first, rank 2 enters b: a lacks one rank, b lacks three.
TEST(FlightPaths, TheOneWithoutWhomNobodyWouldWaitIsNamed) {
  Dumps dumps;
  dumps.Group("1", "a", {0, 1, 2, 3}).Group("2", "b", {0, 1, 2, 3});
  for (int32_t rank = 0; rank < 4; ++rank)
    dumps.Rank(rank).In(rank == 2 ? "2" : "1").Op("all_reduce").Sizes("[[4]]").At(30 + rank);
  AnalysisResult result = dumps.Run();
  EXPECT_TRUE(Has(Causes(result), "deadlock error [2] all_reduce 1 a")) << Causes(result);
  EXPECT_EQ(First(result).headline,
            "Rank 2 waits in all_reduce #1 of b [0-3] instead of all_reduce #1 of a [0-3]");
}

// A circle that hangs by itself comes before a rank that merely has nothing more to do.
TEST(FlightPaths, ACircleComesBeforeARankThatIsIdle) {
  Dumps dumps;
  dumps.Group("1", "a", {0, 1}).Group("2", "b", {0, 1}).Group("3", "c", {2, 3});
  for (int32_t rank = 0; rank < 2; ++rank)
    dumps.Rank(rank).In(rank == 0 ? "1" : "2").Op("all_reduce").Sizes("[[4]]");
  for (int32_t rank = 2; rank < 4; ++rank) dumps.Rank(rank).In("3").Steps(4);
  dumps.Rank(2).Op("all_reduce").Sizes("[[4]]");
  EXPECT_EQ(Causes(dumps.Run()), "deadlock error [0, 1] all_reduce 1 a b");
}

// A send and a receive in turn, step by step; then rank 1 sends without having received.
TEST(FlightPaths, WhoLeavesItsHabitIsToBlameForACircle) {
  Dumps dumps = Job(2);
  for (int step = 0; step < 3; ++step) {
    dumps.Rank(0).Send(1).Completed();
    dumps.Rank(1).Receive(0).Completed();
    dumps.Rank(1).Send(0).Completed();
    dumps.Rank(0).Receive(1).Completed();
  }
  dumps.Rank(0).Send(1);
  dumps.Rank(1).Send(0);
  std::string causes = Causes(dumps.Run());
  EXPECT_TRUE(Has(causes, "p2p_unmatched error [1] send")) << causes;
}

// One step of a ring: each sends to the next and receives from the one before, as one batch.
void RingStep(Dumps& dumps, int32_t step, bool completed, int32_t wrong = -1) {
  constexpr int32_t kRanks = 4;
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    dumps.Rank(rank).Send(rank == wrong ? 0 : (rank + 1) % kRanks).P2pSeq(step);
    dumps.Rank(rank).Receive((rank + kRanks - 1) % kRanks).P2pSeq(step);
    auto end = dumps.Rank(rank).EndBatch().P2pSeq(step);
    if (completed) end.Completed();
  }
}

TEST(FlightPaths, WhoSendsToTheWrongRankIsInAllBrokenExchanges) {
  Dumps dumps = Job(4);
  for (int32_t step = 1; step < 4; ++step) RingStep(dumps, step, true);
  RingStep(dumps, 4, false, 2);
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "p2p_unmatched error [2] send 4 default_pg");
  EXPECT_TRUE(Has(First(result).headline, "send #4 of rank 2 to rank 0")) << First(result).headline;
}

// NCCL completes a batch that lacks a half: its rank is in the next operation, or has stopped.
Dumps RingAndSums(int32_t steps) {
  Dumps dumps = Job(4);
  for (int32_t step = 1; step < steps; ++step) {
    RingStep(dumps, step, true);
    for (int32_t rank = 0; rank < 4; ++rank) dumps.Rank(rank).Steps(1);
  }
  return dumps;
}

TEST(FlightPaths, WhoLeftOutItsSendAndWentOnIsNamed) {
  Dumps dumps = RingAndSums(5);
  for (int32_t rank = 0; rank < 4; ++rank) {
    if (rank != 2) dumps.Rank(rank).Send((rank + 1) % 4).P2pSeq(5).At(30);
    dumps.Rank(rank).Receive((rank + 3) % 4).P2pSeq(5).At(rank == 2 ? 40 : 30);
    auto end = dumps.Rank(rank).EndBatch().P2pSeq(5);
    if (rank != 3) end.Completed();
    dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]");
  }
  RingStep(dumps, 6, false);
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "p2p_unmatched error [2] recv 5 default_pg");
  EXPECT_EQ(First(result).headline,
            "Rank 2 did not send to rank 3, which waits in receive #5 of default_pg [0-3] at "
            "train.py:30; it issued receive #5 from rank 1 at train.py:40 instead");
}

TEST(FlightPaths, WhoSentToTheWrongRankAndStoppedIsNamedWithItsSend) {
  Dumps dumps = RingAndSums(5);
  for (int32_t rank = 0; rank < 4; ++rank) {
    dumps.Rank(rank).Send(rank == 2 ? 0 : (rank + 1) % 4).P2pSeq(5).At(30);
    dumps.Rank(rank).Receive((rank + 3) % 4).P2pSeq(5).At(30);
    auto end = dumps.Rank(rank).EndBatch().P2pSeq(5);
    if (rank != 3) end.Completed();
    if (rank != 2) dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]");
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "p2p_unmatched error [2] recv 5 default_pg");
  EXPECT_TRUE(Has(First(result).headline, "it issued send #5 to rank 0")) << First(result).headline;
}

TEST(FlightPaths, ABatchThatIsFullyMatchedIsNoFault) {
  Dumps dumps = Job(4);
  for (int32_t step = 1; step < 4; ++step) RingStep(dumps, step, step < 3);
  EXPECT_EQ(Causes(dumps.Run()), "");
}

// The ring has wrapped between a batch and its end marker: that belongs to nothing.
TEST(FlightPaths, AnEndMarkerWithoutItsBatchIsLeftOut) {
  Dumps dumps = Job(4);
  for (int32_t rank = 0; rank < 4; ++rank) {
    dumps.Rank(rank).FirstRecord(300);
    if (rank == 1) dumps.Rank(rank).EndBatch().P2pSeq(1);
  }
  for (int32_t step = 2; step < 4; ++step) RingStep(dumps, step, step < 3);
  EXPECT_EQ(Causes(dumps.Run()), "");
}

TEST(FlightHealthy, NothingToSay) {
  Dumps dumps = Job(4);
  for (int32_t rank = 0; rank < 4; ++rank) dumps.Rank(rank).Steps(20);
  EXPECT_TRUE(dumps.Run().findings.empty());
}

TEST(FlightHealthy, WorkInFlightOnAllRanks) {
  Dumps dumps = Job(4);
  for (int32_t rank = 0; rank < 4; ++rank) {
    dumps.Rank(rank).Steps(20);
    for (int i = 0; i < 5; ++i) dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]").Started();
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "");
  EXPECT_EQ(Lines(result, Role::kObservation), "in_flight info [] all_reduce 21");
}

// The outputs are there and say nothing of an end: who lacks an operation had not come to it yet.
TEST(FlightHealthy, DumpsOfAJobThatGoesOnBlameNobody) {
  Dumps dumps = Job(4);
  for (int32_t rank = 0; rank < 4; ++rank) {
    dumps.Rank(rank).Steps(20);
    if (rank != 2) dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]");
    dumps.Says(rank, "last_line", "step 21");
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "");
  EXPECT_TRUE(Has(First(result).headline, "while the job ran")) << First(result).headline;
  dumps.Says(1, "watchdog_timeout");
  EXPECT_EQ(Causes(dumps.Run()), "host_never_came error [2] all_reduce 21 default_pg");
}

// Rank 0 completed what rank 2 had not issued when it wrote its dump: that one came later.
TEST(FlightHealthy, WhatWasCompletedLaterShowsThatTheJobWentOn) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) dumps.Rank(rank).Steps(rank == 2 ? 20 : 22);
  for (int32_t rank = 0; rank < 2; ++rank) dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]");
  EXPECT_EQ(Causes(dumps.Run()), "");
}

TEST(FlightHealthy, EmptyDumpsSayWhy) {
  Dumps dumps;
  dumps.Rank(0);
  dumps.Rank(1);
  AnalysisResult result = dumps.Run();
  EXPECT_TRUE(Has(First(result).headline, "2 dumps without entries: written before the first"))
      << First(result).headline;
}

}  // namespace flight_paths_test
}  // namespace debrief::analyses::flight
