// Who waits for whom: every rule of completion_lag.cc, wait_causes.cc and stragglers.cc on jobs of
// two to eight ranks, and dumps that make no sense.
#include "analyses/flight/waits/waits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tables/comm_match.h"
#include "unit/analyses/flight/dump_builder.h"

namespace debrief::analyses::flight {
namespace flight_waits_test {

Dumps Job(int64_t ranks) { return JobOf(ranks, "0", "default_pg"); }

TEST(FlightLag, ClearWhenSeveralAreIncomplete) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    dumps.Rank(rank).Steps(2);
    for (int i = 0; i < 4; ++i) {
      auto entry = dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]");
      if (rank != 1) entry.Completed();
    }
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "completion_lag error [1] all_reduce 3 default_pg");
  EXPECT_TRUE(Has(First(result).headline, "did not complete 4 of the operations"));
}

TEST(FlightLag, OnlyAWarningForTheNewest) {
  Dumps dumps = Job(2);
  dumps.Rank(0).Steps(3);
  dumps.Rank(1).Steps(2).Op("all_reduce").Sizes("[[4]]");
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "completion_lag warning [1] all_reduce 3 default_pg");
  EXPECT_EQ(First(result).confidence, 0.5);
  EXPECT_TRUE(First(result).explains.empty());
}

TEST(FlightLag, NothingWhileOthersWaitForSomething) {
  Dumps dumps = Job(3);
  dumps.Rank(0).Steps(3).Op("all_reduce").Sizes("[[4]]");
  dumps.Rank(1).Steps(2).Op("all_reduce").Sizes("[[4]]");
  dumps.Rank(2).Steps(3);
  EXPECT_FALSE(Has(Causes(dumps.Run()), "completion_lag"));
}

// Two groups that nobody described: the counters of one say nothing about the other.
TEST(FlightLag, CountersBelongToTheirOwnGroup) {
  Dumps dumps;
  dumps.Group("1", "undefined", {0, 1}).Group("2", "undefined", {0, 1, 2});
  for (int32_t rank = 0; rank < 2; ++rank) {
    dumps.Rank(rank).In("1").Steps(9);
    dumps.Rank(rank).Counters(0, 9, 9);
  }
  for (int32_t rank = 0; rank < 3; ++rank) dumps.Rank(rank).In("2").Steps(1);
  for (int32_t rank : {0, 2})
    for (int i = 0; i < 3; ++i) dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]");
  EXPECT_EQ(Causes(dumps.Run()), "host_never_came error [1] all_reduce 2 undefined");
}

TEST(FlightWaits, OneHostNeverCame) {
  Dumps dumps = Job(4);
  for (int32_t rank = 0; rank < 4; ++rank) {
    dumps.Rank(rank).Steps(2);
    if (rank != 2) dumps.Rank(rank).Op("all_gather").Sizes("[[4]]").At(44).Started();
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "host_never_came error [2] all_gather 3 default_pg");
  EXPECT_EQ(First(result).headline,
            "Rank 2 did not reach all_gather #3 of default_pg [0-3] (train.py:44); ranks 0-1 and 3 "
            "wait");
  EXPECT_EQ(Lines(result, Role::kConsequence), "waiting info [0, 1, 3] all_gather 3 default_pg");
  ASSERT_EQ(First(result).explains, std::vector<size_t>{1});
  EXPECT_EQ(result.findings[1].headline,
            "Ranks 0-1 and 3 wait in all_gather #3 of default_pg [0-3] for rank 2");
}

TEST(FlightWaits, TheRankWithoutEntriesNeverCame) {
  Dumps dumps = Job(2);
  dumps.Rank(0).Op("all_reduce").Sizes("[[4]]");
  dumps.Rank(1);
  EXPECT_EQ(Causes(dumps.Run()), "host_never_came error [1] all_reduce 1 default_pg");
}

TEST(FlightWaits, TwoHostsThatStopApartAreBothNamed) {
  Dumps dumps;
  dumps.Group("1", "a", {0, 1}).Group("2", "b", {2, 3});
  for (int32_t rank = 0; rank < 4; ++rank) dumps.Rank(rank).Steps(3);
  for (int32_t rank : {0, 2}) dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]");
  EXPECT_EQ(Causes(dumps.Run()), "host_never_came error [1, 3] all_reduce 4 a");
}

// The set-up of a communicator leaves no entry: the member that does not come to it is among those
// who wait elsewhere.
TEST(FlightWaits, RanksThatStopTogetherAreNotBlamed) {
  Dumps dumps = Job(5);
  for (int32_t rank = 0; rank < 5; ++rank) {
    dumps.Rank(rank).Op("all_reduce").Sizes("[[1]]").At(7).Completed();
    if (rank > 1) dumps.Rank(rank).Op("all_reduce_barrier").Sizes("[[1]]").At(9);
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "stopped_together error [] all_reduce_barrier 2 default_pg");
  EXPECT_TRUE(
      Has(First(result).headline,
          "Ranks 0-1 stopped together and did not reach all_reduce_barrier #2 of default_pg "
          "[0-4] (train.py:9); ranks 2-4 wait"))
      << First(result).headline;
}

TEST(FlightWaits, WhoStoppedClearlyLaterIsLeftOut) {
  Dumps dumps;
  dumps.Group("1", "a", {0, 1}).Group("2", "b", {2, 3});
  for (int32_t rank = 0; rank < 4; ++rank) dumps.Rank(rank).Steps(2);
  dumps.Rank(0).Op("all_reduce").Sizes("[[4]]");
  for (int32_t rank = 2; rank < 4; ++rank) dumps.Rank(rank).Steps(60);
  dumps.Rank(2).Op("all_reduce").Sizes("[[4]]");
  EXPECT_EQ(Causes(dumps.Run()), "host_never_came error [1] all_reduce 3 a");
}

TEST(FlightWaits, TimesThatNobodyToldTellNothing) {
  for (int64_t time : {kNone64, std::numeric_limits<int64_t>::max(), int64_t{-1}}) {
    Dumps dumps = Job(4);
    dumps.Rank(0).Op("all_reduce").Sizes("[[4]]").Created(time);
    dumps.Rank(1).Op("all_reduce").Sizes("[[4]]");
    dumps.Rank(0).Op("all_reduce").Sizes("[[4]]").Created(time / -2);
    for (int32_t rank = 2; rank < 4; ++rank) {
      dumps.Rank(rank).In("0").Op("all_reduce").Sizes("[[4]]").Seq(-3).Completed().Created(time);
      dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]").Seq(-2).Completed();
    }
    EXPECT_TRUE(Has(Causes(dumps.Run()), "stopped_together error [] all_reduce 1")) << time;
  }
}

TEST(FlightWaits, WentPastWhatItsPeersAreIn) {
  Dumps dumps;
  dumps.Group("1", "mesh_dp", {0, 1}).Group("2", "mesh_tp", {0, 1});
  for (int32_t rank = 0; rank < 2; ++rank) {
    dumps.Rank(rank).In("1").Steps(2);
    if (rank == 0) dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]").At(12);
    dumps.Rank(rank).In("2").Op("all_gather").Sizes("[[4]]");
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "skipped_collective error [1] all_reduce 3 mesh_dp");
  EXPECT_TRUE(Has(First(result).headline, "Rank 1 skipped all_reduce #3 of mesh_dp [0-1]"));
  EXPECT_TRUE(Has(First(result).headline, "(train.py:12) and went on"));
}

TEST(FlightWaits, ARankWithoutADumpIsToBlameWhenOthersWaitForIt) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 2; ++rank)
    dumps.Rank(rank).Steps(1).Op("all_reduce").Sizes("[[4]]").At(8);
  dumps.Says(2, "out_of_memory", "CUDA out of memory");
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "no_dump error [2] all_reduce 2 default_pg");
  EXPECT_TRUE(Has(First(result).headline, "Rank 2 left no dump, and ranks 0-1 wait for it"));
  const auto& evidence = First(result).evidence;
  EXPECT_TRUE(std::ranges::any_of(
      evidence, [](const Evidence& each) { return Has(each.text, "CUDA out of memory"); }));
}

TEST(FlightWaits, ARankWithoutADumpIsAWarningWhenNobodyWaits) {
  Dumps dumps = Job(3);
  dumps.Rank(0).Steps(2);
  dumps.Rank(1).Steps(2);
  EXPECT_EQ(Causes(dumps.Run()), "no_dump warning [2]");
}

TEST(FlightWaits, WhoseWatchdogSpokeIsNotBlamed) {
  Dumps dumps = Job(4);
  for (int32_t rank = 0; rank < 2; ++rank) dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]");
  dumps.Says(3, "watchdog_timeout");
  EXPECT_EQ(Causes(dumps.Run()),
            "no_dump error [2] all_reduce 1 default_pg; no_dump warning [2, 3]");
  Dumps all = Job(4);
  for (int32_t rank = 0; rank < 2; ++rank) all.Rank(rank).Op("all_reduce").Sizes("[[4]]");
  all.Says(3, "watchdog_timeout").Says(2, "watchdog_timeout");
  AnalysisResult result = all.Run();
  EXPECT_EQ(Causes(result), "no_dump error [] all_reduce 1 default_pg");
  EXPECT_TRUE(Has(First(result).headline, "2 of 4 ranks left no dump; ranks 0-1 wait in"));
}

TEST(FlightWaits, ACutDumpCannotTell) {
  Dumps dumps = Job(2);
  dumps.Rank(0).Steps(2).Op("all_reduce").Sizes("[[4]]");
  dumps.Rank(1).Cut().Steps(1);
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "host_never_came error [1] all_reduce 3 default_pg");
  EXPECT_EQ(First(result).confidence, 0.5);
  EXPECT_TRUE(Has(First(result).headline, "as far as its cut dump shows"));
}

TEST(FlightWaits, DeadlockOfFourOverFourGroups) {
  Dumps dumps;
  static constexpr std::string_view kNames[] = {"a", "b", "c", "d"};
  for (int32_t i = 0; i < 4; ++i) dumps.Group(kNames[i], kNames[i], {i, (i + 1) % 4});
  for (int32_t rank = 0; rank < 4; ++rank)
    dumps.Rank(rank).In(kNames[rank]).Op("all_reduce").Sizes("[[4]]").At(90);
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "deadlock error [0, 1, 2, 3] all_reduce 1 a b c d");
  EXPECT_TRUE(Has(First(result).headline, "rank 2 in all_reduce #1 of c [2-3] (train.py:90)"))
      << First(result).headline;
}

TEST(FlightWaits, CycleByHeadOfLine) {
  Dumps dumps;
  dumps.Group("1", "a", {0, 1}).Group("2", "b", {0, 1});
  for (int32_t rank = 0; rank < 2; ++rank) {
    dumps.Rank(rank).In(rank == 0 ? "1" : "2").Op("all_reduce").Sizes("[[4]]");
    dumps.Rank(rank).In(rank == 0 ? "2" : "1").Op("all_reduce").Sizes("[[4]]");
  }
  EXPECT_EQ(Causes(dumps.Run()), "deadlock error [0, 1] all_reduce 1 a b");
}

TEST(FlightWaits, AHangNeedsProof) {
  for (int proof = 0; proof < 3; ++proof) {
    Dumps dumps = Job(3);
    for (int32_t rank = 0; rank < 3; ++rank) {
      auto entry = dumps.Rank(rank).Steps(1).Op("all_reduce").Sizes("[[4]]").At(5).Started();
      if (proof == 1) entry.Retired();
    }
    if (proof == 2) dumps.Says(1, "watchdog_timeout");
    EXPECT_EQ(Causes(dumps.Run()),
              proof == 0 ? "" : "gpu_or_network_hang error [] all_reduce 2 default_pg");
  }
}

TEST(FlightWaits, TheGpuThatDidNotStartIsNamed) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    auto entry = dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]").Retired();
    if (rank != 1) entry.Started();
  }
  EXPECT_EQ(Causes(dumps.Run()), "gpu_or_network_hang error [1] all_reduce 1 default_pg");
}

TEST(FlightWaits, AHangOfAnExchangeNamesBothSides) {
  Dumps dumps = Job(2);
  dumps.Rank(0).Send(1).Started().Retired();
  dumps.Rank(1).Receive(0).Started().Retired();
  EXPECT_EQ(Causes(dumps.Run()), "gpu_or_network_hang error [0, 1] send 1 default_pg");
}

TEST(FlightWaits, AnExchangeWhoseOtherHalfNeverCame) {
  Dumps dumps = Job(2);
  dumps.Rank(0).Send(1).Completed();
  dumps.Rank(1).Receive(0).Completed();
  dumps.Rank(0).Send(1).At(3);
  EXPECT_EQ(Causes(dumps.Run()), "host_never_came error [1] send 2 default_pg");
}

// Two pipelines beside each other; a rank of one leaves out a receive that its twin has issued.
TEST(FlightWaits, LeftOutOneHalfOfAnExchange) {
  Dumps dumps;
  dumps.Group("1", "mesh_pp", {0, 1}).Group("2", "mesh_pp", {2, 3}).Group("3", "mesh_dp", {1, 3});
  for (int32_t first : {0, 2}) {
    std::string_view group = first == 0 ? "1" : "2";
    for (int i = 0; i < 2; ++i) {
      dumps.Rank(first).In(group).Send(1).Completed();
      dumps.Rank(first + 1).In(group).Receive(0).Completed();
    }
    dumps.Rank(first).Send(1);
    if (first == 2) dumps.Rank(3).Receive(0);
    dumps.Rank(first + 1).In("3").Op("all_reduce").Sizes("[[4]]");
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "p2p_unmatched error [1] send 3 mesh_pp");
  EXPECT_TRUE(Has(First(result).headline, "Rank 1 left out the other half of send #3 of rank 0"));
}

TEST(FlightStraggler, ComesLateAgainAndAgain) {
  Dumps dumps = Job(3);
  for (int step = 0; step < 12; ++step) {
    for (int32_t rank = 0; rank < 3; ++rank) {
      bool late = rank == (step % 2 == 0 ? 2 : 1);
      auto entry = dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]").Completed();
      entry.Created(kStartNs + step * 1000 * kMillisecond);
      if (late) entry.Later(rank == 2 ? 200 : 10);
    }
  }
  AnalysisResult result = dumps.Run();
  EXPECT_TRUE(Has(Causes(result), "straggler warning [2] all_reduce")) << Causes(result);
  EXPECT_TRUE(Has(First(result).headline, "three times by 200 ms or more"));
}

TEST(FlightHostile, ARankUsesAGroupItIsNoMemberOf) {
  Dumps dumps;
  dumps.Group("1", "mesh_dp", {0, 1}).Group("2", "mesh_dp", {2, 3});
  for (int32_t rank = 0; rank < 4; ++rank) dumps.Rank(rank).Steps(2);
  dumps.Rank(3).In("1").Op("all_reduce").Sizes("[[4]]").Seq(1);
  dumps.Rank(3).In("1").Send(0);
  dumps.Rank(3).In("1").Receive(77);
  AnalysisResult result = dumps.Run();
  const auto& matches = result.part.tables.Get<CommMatchTable>();
  ASSERT_GT(matches.size(), 0u);
  for (int64_t rank : result.part.pools.lists.Get(matches.joined[0])) EXPECT_LT(rank, 2);
}

TEST(FlightHostile, SequenceNumbersAtTheirLimits) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  for (int32_t seq : {kMost, -1, -kMost, kNone32}) {
    Dumps dumps = Job(3);
    for (int32_t rank = 0; rank < 3; ++rank) {
      dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]").Seq(seq).Completed();
      if (rank > 0) dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]").Seq(seq);
      dumps.Rank(rank).Send(1).P2pSeq(seq);
    }
    dumps.Run();
  }
}

TEST(FlightHostile, MembersThatNobodyTold) {
  Dumps dumps;
  dumps.Group("1", "", {});
  for (int32_t rank = 0; rank < 3; ++rank) {
    dumps.Rank(rank).Steps(2);
    if (rank != 1) dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]");
  }
  EXPECT_EQ(Causes(dumps.Run()), "host_never_came error [1] all_reduce 3 1");
}

// Only entries tell who is in the group, the highest rank first.
TEST(FlightHostile, GroupsThatNobodyDeclared) {
  Dumps dumps;
  dumps.Group("1", "mesh_dp", {0, 5, 3}).Undeclared();
  for (int32_t rank : {5, 3}) dumps.Rank(rank).Steps(2).Op("all_reduce").Sizes("[[4]]");
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "no_dump error [0] all_reduce 3 mesh_dp");
  Index index(dumps.model, 0, 0);
  for (size_t i = 1; i < index.ranks.size(); ++i)
    EXPECT_LT(index.ranks[i - 1].rank, index.ranks[i].rank);
}

TEST(FlightHostile, MembersOutsideOfAllSense) {
  Dumps dumps;
  dumps.Group("1", "x", {0, 0, 1, -7, int64_t{1} << 40});
  for (int32_t rank = 0; rank < 2; ++rank) dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]");
  dumps.Rank(0).Send(std::numeric_limits<int32_t>::max());
  dumps.Rank(0).Receive(-2);
  dumps.Run();
}

TEST(FlightHostile, OneSequenceNumberTwice) {
  Dumps dumps = Job(2);
  for (int32_t rank = 0; rank < 2; ++rank) {
    dumps.Rank(rank).Steps(3);
    dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]").Seq(1).Completed();
  }
  EXPECT_EQ(Causes(dumps.Run()), "");
}

TEST(FlightHostile, ADumpWithoutGroupsAndEntries) {
  Dumps dumps;
  dumps.Rank(0);
  EXPECT_EQ(Causes(dumps.Run()), "empty_dumps warning []");
}

// Rank i waits for rank i + 1; the last one waits for nobody, or for the first.
void FillChain(Dumps& dumps, int32_t ranks, bool closed) {
  auto& ops = dumps.model.tables.Edit<CommOpTable>();
  auto& pools = dumps.model.pools;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    CommOpRow row = Part::RowOf<CommOpRow>({rank, 0, 0, rank});
    row.input = row.record = rank;
    row.group_name = pools.Intern(std::to_string(rank));
    std::vector<int64_t> members = {rank, (rank + 1) % ranks};
    std::sort(members.begin(), members.end());
    row.members = pools.lists.Intern(members);
    row.op = pools.Intern("all_reduce");
    row.collective_seq = 1;
    row.state = pools.Intern(rank == ranks - 1 && !closed ? "completed" : "scheduled");
    ops.Add(row);
  }
}

TEST(FlightGraph, AChainOf50000RanksHasNoCycle) {
  constexpr int32_t kRanks = 50'000;
  Dumps dumps;
  FillChain(dumps, kRanks, false);
  Index index(dumps.model, 0, 0);
  Waits waits(index);
  EXPECT_TRUE(waits.Cycles().empty());
  EXPECT_EQ(waits.Behind({kRanks - 1}).size(), size_t{kRanks - 1});
  EXPECT_EQ(waits.Behind({0}), std::vector<int32_t>());
  EXPECT_EQ(waits.Behind({3}), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(waits.Behind({1, 3}), (std::vector<int32_t>{0, 2}));
}

TEST(FlightGraph, ACircleOf50000Ranks) {
  constexpr int32_t kRanks = 50'000;
  Dumps dumps;
  FillChain(dumps, kRanks, true);
  Index index(dumps.model, 0, 0);
  Waits waits(index);
  auto cycles = waits.Cycles();
  ASSERT_EQ(cycles.size(), 1u);
  EXPECT_EQ(cycles[0].size(), size_t{kRanks});
  EXPECT_EQ(cycles[0].front(), 0);
  EXPECT_EQ(waits.Behind({7}).size(), size_t{kRanks - 1});
}

}  // namespace flight_waits_test
}  // namespace debrief::analyses::flight
