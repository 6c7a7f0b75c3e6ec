// Members that did different things: every rule of mismatch.cc, vote.cc and p2p_sizes.cc on jobs of
// two to eight ranks.
#include <gtest/gtest.h>

#include "analyses/flight/matching/signature.h"
#include "tables/comm_call.h"
#include "tables/comm_match.h"
#include "tables/first_incomplete.h"
#include "unit/analyses/flight/dump_builder.h"

namespace debrief::analyses::flight {
namespace flight_test {

Dumps Job(int64_t ranks, std::string_view description = "mesh_dp") {
  return JobOf(ranks, "1", description);
}

// A step of one rank: four collectives that differ. `skip` of them, from the first, are left out.
void Step(Dumps::RankDump rank, int skip = 0) {
  static constexpr std::string_view kSizes[] = {"[[1]]", "[[2]]", "[[3]]", "[[4]]"};
  for (int i = skip; i < 4; ++i) rank.Op("all_reduce").Sizes(kSizes[i]).At(50 + i).Completed();
}

TEST(FlightMismatch, NamesTheOneThatSkippedACollective) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    Step(dumps.Rank(rank));
    Step(dumps.Rank(rank), rank == 1 ? 1 : 0);
    Step(dumps.Rank(rank));
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "skipped_collective error [1] all_reduce 5 mesh_dp");
  const Finding& finding = First(result);
  EXPECT_EQ(
      finding.headline,
      "Rank 1 skipped a collective of mesh_dp [0-2]: all_reduce #5 at train.py:50, and went on "
      "with all_reduce at train.py:51");
  EXPECT_EQ(finding.why, "the other members of the group agree with each other");
  ASSERT_FALSE(finding.source.empty());
  EXPECT_EQ(finding.source[0].rank, 1);
  EXPECT_EQ(finding.source[0].file, "/home/me/train.py");
  EXPECT_EQ(finding.source[0].line, 51);
  ASSERT_EQ(finding.groups.size(), 1u);
  EXPECT_EQ(finding.groups[0].name, "1");
  EXPECT_EQ(finding.groups[0].ranks, (std::vector<int32_t>{0, 1, 2}));
}

TEST(FlightMismatch, CountsHowManyWereSkipped) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    Step(dumps.Rank(rank));
    dumps.Rank(rank).Steps(1, "barrier", "[]", 60);
    if (rank != 2) Step(dumps.Rank(rank));
    dumps.Rank(rank).Steps(1, "barrier", "[]", 61);
    dumps.Rank(rank).Steps(3, "broadcast", "[[9]]", 70);
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "skipped_collective error [2] all_reduce 6 mesh_dp");
  EXPECT_TRUE(Has(First(result).headline, "skipped 4 collectives of")) << First(result).headline;
}

TEST(FlightMismatch, NamesTheOneThatDidTooMuch) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    Step(dumps.Rank(rank));
    if (rank == 0) dumps.Rank(rank).Steps(1, "broadcast", "[[9]]", 80);
    Step(dumps.Rank(rank));
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "skipped_collective error [0] all_reduce 5 mesh_dp");
  EXPECT_EQ(
      First(result).headline,
      "Rank 0 called an extra collective of mesh_dp [0-2]: broadcast #5 at train.py:80; rank 1 "
      "did not call it");
}

TEST(FlightMismatch, NamesAnotherOperation) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    Step(dumps.Rank(rank));
    dumps.Rank(rank).Op(rank == 2 ? "all_gather" : "all_reduce").Sizes("[[4]]").At(60 + rank);
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "type_mismatch error [2] all_reduce 5 mesh_dp");
  EXPECT_EQ(First(result).headline,
            "Rank 2 called all_gather where rank 0 called all_reduce: #5 of mesh_dp [0-2] at "
            "train.py:62, [4] and [4]");
}

TEST(FlightMismatch, NamesTwoInOppositeOrder) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    Step(dumps.Rank(rank));
    bool swapped = rank == 1;
    dumps.Rank(rank).Op(swapped ? "broadcast" : "all_reduce").Sizes("[[7]]").At(70);
    dumps.Rank(rank).Op(swapped ? "all_reduce" : "broadcast").Sizes("[[7]]").At(71);
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "type_mismatch error [1] all_reduce 5 mesh_dp");
  EXPECT_TRUE(Has(First(result).headline,
                  "swapped two collectives of mesh_dp [0-2]: broadcast "
                  "before all_reduce (#5) at train.py:70"));
}

// One of two collectives of a loop was left out: the next round looks as if both were swapped.
TEST(FlightMismatch, NamesOneLeftOutOfALoop) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    for (int32_t round = 0; round < 4; ++round) {
      if (rank != 1 || round != 1) dumps.Rank(rank).Op("all_reduce").Sizes("[[1]]").At(70);
      dumps.Rank(rank).Op("all_reduce").Sizes("[[9]]").At(71);
    }
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "skipped_collective error [1] all_reduce 3 mesh_dp");
}

TEST(FlightMismatch, TwoOfOneNameAreToldBySize) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    Step(dumps.Rank(rank));
    bool swapped = rank == 1;
    dumps.Rank(rank).Op("all_reduce").Sizes(swapped ? "[[9]]" : "[[7]]").At(70);
    dumps.Rank(rank).Op("all_reduce").Sizes(swapped ? "[[7]]" : "[[9]]").At(71);
  }
  EXPECT_TRUE(Has(First(dumps.Run()).headline, "all_reduce [9] before all_reduce [7]"));
}

TEST(FlightMismatch, NamesASecondRoot) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    for (int32_t call = 0; call < 2; ++call) {
      bool root = rank == 2 || (rank == 1 && call == 1);
      dumps.Rank(rank)
          .Op("gather")
          .Input("[[4]]")
          .Output(root ? "[[4], [4], [4]]" : "[[0]]")
          .At(70);
    }
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "type_mismatch error [1] gather 2 mesh_dp");
  EXPECT_TRUE(Has(First(result).headline, "as its root, where rank 2 is the root"));
}

TEST(FlightMismatch, SizeByMajority) {
  Dumps dumps = Job(4);
  for (int32_t rank = 0; rank < 4; ++rank) {
    dumps.Rank(rank).Steps(2);
    dumps.Rank(rank).Op("all_reduce").Sizes(rank == 3 ? "[[8]]" : "[[4]]").At(33);
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "size_mismatch error [3] all_reduce 3 mesh_dp");
  EXPECT_EQ(First(result).confidence, 0.95);
  EXPECT_EQ(Lines(result, Role::kConsequence), "waiting info [0, 1, 2] all_reduce 3 mesh_dp");
  EXPECT_EQ(First(result).explains, std::vector<size_t>{1});
}

TEST(FlightMismatch, SizeBySiblingGroups) {
  Dumps dumps;
  dumps.Group("1", "mesh_dp", {0, 1}).Group("2", "mesh_dp", {2, 3}).Group("3", "mesh_dp", {4, 5});
  for (int32_t rank = 0; rank < 6; ++rank)
    dumps.Rank(rank).Op("all_reduce").Sizes(rank == 3 ? "[[8]]" : "[[4]]").Completed();
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "size_mismatch error [3] all_reduce 1 mesh_dp");
  EXPECT_TRUE(Has(First(result).why, "sibling groups"));
  EXPECT_EQ(First(result).confidence, 0.85);
}

TEST(FlightMismatch, SizeByHabit) {
  Dumps dumps = Job(2);
  for (int32_t rank = 0; rank < 2; ++rank) {
    for (int step = 0; step < 4; ++step) {
      bool odd = rank == 0 && step == 3;
      dumps.Rank(rank).Op("all_gather").Sizes("[[2]]").Completed();
      dumps.Rank(rank).Op("all_reduce").Sizes(odd ? "[[5]]" : "[[4]]").Completed();
    }
  }
  EXPECT_EQ(Causes(dumps.Run()), "size_mismatch error [0] all_reduce 8 mesh_dp");
}

TEST(FlightMismatch, NamesBothWhenNothingTellsThemApart) {
  Dumps dumps = Job(2);
  dumps.Rank(0).Op("all_reduce").Sizes("[[4]]");
  dumps.Rank(1).Op("all_reduce").Sizes("[[8]]");
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "size_mismatch error [0, 1] all_reduce 1 mesh_dp");
  EXPECT_EQ(First(result).why,
            "the group has no majority and nothing else distinguishes its members");
  EXPECT_EQ(First(result).confidence, 0.5);
  EXPECT_EQ(result.findings.size(), 1u);  // both are blamed: nobody is left to wait
}

// Two against two, where a member with the right call has a less usual past than the wrong ones.
TEST(FlightMismatch, BlamesCallsAndNotMembersWithoutAPast) {
  Dumps dumps = Job(4);
  for (int32_t rank = 0; rank < 4; ++rank) {
    if (rank == 1) {
      dumps.Rank(rank).FirstRecord(6).Op("all_reduce").Sizes("[[4]]").At(77).Seq(7).Completed();
    } else {
      dumps.Rank(rank).Steps(6).Op("all_reduce").Sizes(rank < 2 ? "[[4]]" : "[[8]]").At(10);
    }
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "size_mismatch error [2, 3] all_reduce 7 mesh_dp");
}

// The best member and the only worse one made the same call.
TEST(FlightMismatch, AnUnusualLineAloneBlamesNobody) {
  Dumps dumps = Job(4);
  for (int32_t rank = 0; rank < 4; ++rank) {
    dumps.Rank(rank).Steps(1, "all_reduce", "[[4]]", 10).Steps(1, "all_reduce", "[[8]]", 11);
    dumps.Rank(rank)
        .Op("all_reduce")
        .Sizes(rank < 2 ? "[[4]]" : "[[8]]")
        .At(rank == 0   ? 10
            : rank == 1 ? 99
                        : 11);
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "size_mismatch error [0, 1, 2, 3] all_reduce 3 mesh_dp");
  EXPECT_EQ(First(result).confidence, 0.5);
}

TEST(FlightMismatch, Dtype) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank)
    dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]").Dtype(rank == 1 ? "Half" : "Float").At(9);
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "dtype_mismatch error [1] all_reduce 1 mesh_dp");
  EXPECT_EQ(First(result).headline,
            "Rank 1 called all_reduce #1 with type Half, rank 0 with Float, in mesh_dp [0-2] at "
            "train.py:9");
}

TEST(FlightMismatch, AllToAllMayDifferWhileItsSumsAgree) {
  Dumps dumps = Job(2, "mesh_ep");
  dumps.Rank(0).Op("all_to_all").Input("[[3]]").Output("[[5]]").Completed();
  dumps.Rank(1).Op("all_to_all").Input("[[6]]").Output("[[4]]").Completed();
  EXPECT_EQ(Causes(dumps.Run()), "");
}

TEST(FlightMismatch, AllToAllWhoseSumsAreOff) {
  Dumps dumps = Job(2, "mesh_ep");
  for (int32_t rank = 0; rank < 2; ++rank) {
    dumps.Rank(rank).Steps(2, "all_to_all", "[[4]]");
    dumps.Rank(rank).Op("all_to_all").Input(rank == 1 ? "[[5]]" : "[[4]]").Output("[[4]]").At(12);
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "size_mismatch error [1] all_to_all 3 mesh_ep");
  EXPECT_TRUE(Has(First(result).headline, "do not add up")) << First(result).headline;
  EXPECT_TRUE(Has(First(result).headline, "train.py:12"));
}

TEST(FlightMismatch, AllToAllWhoseSumsAreOffAndNobodyIsUnusual) {
  Dumps dumps = Job(2, "mesh_ep");
  for (int32_t rank = 0; rank < 2; ++rank)
    dumps.Rank(rank).Op("all_to_all").Input("[[5]]").Output("[[4]]");
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "size_mismatch error [0, 1] all_to_all 1 mesh_ep");
  EXPECT_EQ(First(result).confidence, 0.4);
}

TEST(FlightMismatch, GatherAndScatterDifferAtTheRoot) {
  Dumps dumps = Job(2);
  dumps.Rank(0).Op("gather").Input("[[4]]").Output("[[4], [4]]").Completed();
  dumps.Rank(1).Op("gather").Input("[[4]]").Output("[]").Completed();
  dumps.Rank(0).Op("scatter").Input("[[4], [4]]").Output("[[4]]").Completed();
  dumps.Rank(1).Op("scatter").Input("[]").Output("[[4]]").Completed();
  // As PyTorch 2.11 records a scatter: the root's list is the output.
  dumps.Rank(0).Op("scatter").Input("[[4]]").Output("[[0]]").Completed();
  dumps.Rank(1).Op("scatter").Input("[[4]]").Output("[[4], [4]]").Completed();
  dumps.Rank(0).Op("broadcast").Input("[[4]]").Output("[[4]]").Completed();
  dumps.Rank(1).Op("broadcast").Input("[]").Output("[[4]]").Completed();
  dumps.Rank(0).Op("reduce").Input("[[4]]").Output("[]").Completed();
  dumps.Rank(1).Op("reduce").Input("[[4]]").Output("[[4]]").Completed();
  EXPECT_EQ(Causes(dumps.Run()), "");
}

TEST(FlightMismatch, AnotherSizeInAGatherIsFound) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    auto entry = dumps.Rank(rank).Op("gather").Input(rank == 2 ? "[[3]]" : "[[4]]");
    entry.Output(rank == 0 ? "[[4], [4], [4]]" : "[[0]]").Completed();
  }
  EXPECT_EQ(Causes(dumps.Run()), "size_mismatch error [2] gather 1 mesh_dp");
}

void Region(Dumps::RankDump rank, std::string_view second) {
  rank.Op("all_gather").Sizes("[[4]]").At(20).Completed();
  rank.Inner("all_gather").Sizes(second).At(21).Completed();
  rank.Inner("coalesced").At(22).Completed();
}

TEST(FlightMismatch, AnInnerOpOfARegionDiffers) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    Region(dumps.Rank(rank), "[[8]]");
    Region(dumps.Rank(rank), rank == 0 ? "[[9]]" : "[[8]]");
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "size_mismatch error [0] all_gather 2 mesh_dp");
  EXPECT_TRUE(Has(First(result).headline,
                  "Rank 0 coalesced all_gather [9] as operation 2 of 2 where rank 1 has "
                  "all_gather [8]: #2 of mesh_dp"))
      << First(result).headline;
}

TEST(FlightMismatch, ARegionWithOneOperationLess) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    dumps.Rank(rank).Op("all_gather").Sizes("[[4]]").Completed();
    if (rank != 1) dumps.Rank(rank).Inner("all_gather").Sizes("[[8]]").Completed();
    dumps.Rank(rank).Inner("coalesced").Completed();
  }
  AnalysisResult result = dumps.Run();
  EXPECT_TRUE(Has(First(result).headline, "Rank 1 coalesced 1 operation where rank 0 coalesced 2"))
      << First(result).headline;
}

TEST(FlightMismatch, ARegionThatTheRingHasCutIsNotCompared) {
  Dumps dumps = Job(2);
  Region(dumps.Rank(0), "[[8]]");
  Region(dumps.Rank(0), "[[8]]");
  auto cut = dumps.Rank(1).FirstRecord(1);
  cut.Op("all_gather").Sizes("[[8]]").Completed();
  cut.Inner("coalesced").Completed();
  Region(dumps.Rank(1), "[[8]]");
  EXPECT_EQ(Causes(dumps.Run()), "");
}

// Those whose region is cut are no majority, and nobody blames them.
TEST(FlightMismatch, CutRegionsHaveNoVote) {
  Dumps dumps = Job(6);
  for (int32_t rank = 0; rank < 3; ++rank) Region(dumps.Rank(rank), rank == 0 ? "[[9]]" : "[[8]]");
  for (int32_t rank = 3; rank < 6; ++rank) {
    auto cut = dumps.Rank(rank).FirstRecord(1);
    cut.Op("all_gather").Sizes("[[8]]").Completed();
    cut.Inner("coalesced").Completed();
  }
  EXPECT_EQ(Causes(dumps.Run()), "size_mismatch error [0] all_gather 1 mesh_dp");
}

TEST(FlightP2p, TheSenderIsWrong) {
  Dumps dumps = Job(2, "mesh_pp");
  for (int i = 0; i < 3; ++i) {
    dumps.Rank(0).Send(1).Sizes(i == 2 ? "[[5]]" : "[[4]]").At(30).Completed();
    dumps.Rank(1).Receive(0).Sizes("[[4]]").At(31).Completed();
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "p2p_size error [0] send 3 mesh_pp");
  EXPECT_EQ(First(result).headline,
            "Rank 0 sends [[5]] in mesh_pp [0-1] where rank 1 receives [[4]] at train.py:30");
}

TEST(FlightP2p, TheReceiverIsWrong) {
  Dumps dumps = Job(2, "mesh_pp");
  for (int i = 0; i < 3; ++i) {
    dumps.Rank(0).Send(1).Completed();
    dumps.Rank(1).Receive(0).Sizes(i == 1 ? "[[5]]" : "[[4]]").At(31).Completed();
  }
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "p2p_size error [1] recv 2 mesh_pp");
  EXPECT_TRUE(Has(First(result).headline, "receives [[5]]")) << First(result).headline;
}

TEST(FlightP2p, AScalarAndATensorOfOneElementAreTheSame) {
  Dumps dumps = Job(2, "mesh_pp");
  dumps.Rank(0).Send(1).Sizes("[[]]").Completed();
  dumps.Rank(1).Receive(0).Sizes("[[1]]").Completed();
  EXPECT_EQ(Causes(dumps.Run()), "");
}

TEST(FlightP2p, NobodyKnowsWhichSideIsWrong) {
  Dumps dumps = Job(2, "mesh_pp");
  dumps.Rank(0).Send(1).Sizes("[[5]]").Completed();
  dumps.Rank(1).Receive(0).Sizes("[[4]]").Completed();
  AnalysisResult result = dumps.Run();
  EXPECT_EQ(Causes(result), "p2p_size error [0, 1] send 1 mesh_pp");
  EXPECT_TRUE(Has(First(result).headline, "[[5]] is sent, [[4]] received"));
}

class FlightBatch : public ::testing::TestWithParam<bool> {};

// The state of a batch is that of its end marker, whether that says it is p2p or not.
TEST_P(FlightBatch, TheEndMarkerCarriesTheState) {
  Dumps dumps = Job(2, "mesh_pp");
  for (int32_t rank = 0; rank < 2; ++rank) {
    dumps.Rank(rank).Send(1 - rank);
    dumps.Rank(rank).Receive(1 - rank).P2pSeq(1);
    dumps.Rank(rank).EndBatch().P2pSeq(1).P2p(GetParam()).Completed();
  }
  Index index(dumps.Finish(), 0, 0);
  ASSERT_EQ(index.units.size(), 4u);
  for (const Unit& unit : index.units) {
    EXPECT_TRUE(unit.completed());
    EXPECT_EQ(unit.partner, 1 - unit.rank);
    ASSERT_GE(unit.peer, 0);
    EXPECT_NE(index.units[static_cast<size_t>(unit.peer)].send, unit.send);
  }
}
INSTANTIATE_TEST_SUITE_P(IsP2p, FlightBatch, ::testing::Bool());

// Collectives of a region have no state of their own, whether they stand before or behind the
// sends.
TEST(FlightBatchOfBoth, TheEndMarkerCarriesTheStateOfCollectivesToo) {
  Dumps dumps = Job(2, "mesh_pp");
  for (int32_t rank = 0; rank < 2; ++rank) {
    if (rank == 0) dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]");
    dumps.Rank(rank).Send(1 - rank).Seq(1);
    dumps.Rank(rank).Receive(1 - rank).P2pSeq(1).Seq(1);
    if (rank == 1) dumps.Rank(rank).Op("all_reduce").Sizes("[[4]]");
    dumps.Rank(rank).EndBatch().P2pSeq(1).Seq(1).Completed();
  }
  Index index(dumps.Finish(), 0, 0);
  ASSERT_EQ(index.units.size(), 6u);
  for (const Unit& unit : index.units) EXPECT_TRUE(unit.completed());
}

TEST(FlightTables, EveryOpOfABatchFindsItsMatch) {
  Dumps dumps = Job(2, "mesh_pp");
  dumps.Rank(0).Send(1).Sizes("[[4]]");
  dumps.Rank(0).Send(1).Sizes("[[8]]").P2pSeq(1);
  dumps.Rank(0).EndBatch().P2pSeq(1);
  dumps.Rank(1).Receive(0).Sizes("[[8]]");
  dumps.Rank(1).Receive(0).Sizes("[[4]]").P2pSeq(1);
  dumps.Rank(1).EndBatch().P2pSeq(1);
  dumps.Rank(1).Receive(0).Sizes("[[4]]");
  AnalysisResult result = dumps.Run();
  const auto& matches = result.part.tables.Get<CommMatchTable>();
  const Pools& pools = result.part.pools;
  ASSERT_EQ(matches.size(), 3u);
  for (size_t pair : {0u, 1u}) {
    EXPECT_EQ(pools.Text(matches.mismatch[pair]), "size");
    EXPECT_EQ(pools.Text(matches.status[pair]), "mismatch");
  }
  EXPECT_EQ(pools.Text(matches.status[2]), "waiting");
  const auto& calls = result.part.tables.Get<CommCallTable>();
  ASSERT_EQ(calls.size(), 7u);
  std::vector<int32_t> regions;
  for (size_t i = 0; i < calls.size(); ++i) regions.push_back(calls.region[i]);
  EXPECT_EQ(regions, (std::vector<int32_t>{0, 0, 0, 1, 1, 1, kNone32}));
}

TEST(FlightTables, TellWhoJoinedAndWhereEachRankIs) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank) dumps.Rank(rank).Steps(1);
  for (int32_t rank = 0; rank < 2; ++rank) dumps.Rank(rank).Op("all_gather").Sizes("[[2]]");
  AnalysisResult result = dumps.Run();
  const auto& matches = result.part.tables.Get<CommMatchTable>();
  const Pools& pools = result.part.pools;
  auto ranks = [&](ListId list) {
    return fmt::format("{}", fmt::join(pools.lists.Get(list), " "));
  };
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(pools.Text(matches.status[0]), "completed");
  EXPECT_EQ(pools.Text(matches.status[1]), "waiting");
  EXPECT_EQ(pools.Text(matches.op[1]), "all_gather");
  EXPECT_EQ(pools.Text(matches.role[1]), "dp");
  EXPECT_EQ(matches.seq[1], 2);
  EXPECT_EQ(ranks(matches.joined[0]), "0 1 2");
  EXPECT_EQ(ranks(matches.joined[1]), "0 1");
  EXPECT_EQ(ranks(matches.completed[1]), "");
  EXPECT_EQ(ranks(matches.missing[1]), "2");
  const auto& incomplete = result.part.tables.Get<FirstIncompleteTable>();
  ASSERT_EQ(incomplete.size(), 2u);
  EXPECT_EQ(incomplete.rank[1], 1);
  EXPECT_EQ(pools.Text(incomplete.op[1]), "all_gather");
  EXPECT_EQ(pools.Text(incomplete.state[1]), "scheduled");
  EXPECT_EQ(ranks(incomplete.waits_for[1]), "2");
}

TEST(FlightTables, AMismatchNamesTheBlamedAndTheRightOperation) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank)
    dumps.Rank(rank).Op(rank == 0 ? "barrier" : "all_reduce").Sizes("[[4]]");
  AnalysisResult result = dumps.Run();
  const auto& matches = result.part.tables.Get<CommMatchTable>();
  const Pools& pools = result.part.pools;
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(pools.Text(matches.status[0]), "mismatch");
  EXPECT_EQ(pools.Text(matches.mismatch[0]), "type");
  EXPECT_EQ(pools.Text(matches.op[0]), "all_reduce");
  ASSERT_EQ(pools.lists.Get(matches.blamed[0]).size(), 1u);
  EXPECT_EQ(pools.lists.Get(matches.blamed[0])[0], 0);
}

TEST(FlightSignature, CountsElements) {
  EXPECT_EQ(CountElements("[[4, 4], [8]]"), 24);
  EXPECT_EQ(CountElements("[[]]"), 1);
  EXPECT_EQ(CountElements("[[], []]"), 2);
  EXPECT_EQ(CountElements("[[0, 5]]"), 0);
  EXPECT_EQ(CountElements("[]"), 0);
  EXPECT_EQ(CountElements(""), 0);
}

TEST(FlightSignature, SurvivesHostileSizes) {
  for (std::string_view text : {"[", "]", "[[", "[[[[", "]]]]", "[[4", "[[,,,]]", "4", "[[-3]]",
                                "[[99999999999999999999999999, 99999999999999999999]]"})
    CountElements(text);
  CountElements(std::string(100'000, '['));
}

TEST(FlightSignature, KnowsShapes) {
  EXPECT_EQ(ShapeOf("all_to_all"), OpShape::kAllToAll);
  EXPECT_EQ(ShapeOf("all_to_all_single"), OpShape::kAllToAll);
  EXPECT_EQ(ShapeOf("gather"), OpShape::kRooted);
  EXPECT_EQ(ShapeOf("all_gather"), OpShape::kSame);
  EXPECT_EQ(ShapeOf("scatter"), OpShape::kRooted);
  EXPECT_EQ(ShapeOf("reduce_scatter"), OpShape::kSame);
  EXPECT_EQ(ShapeOf(""), OpShape::kSame);
}

TEST(FlightMismatch, HostileSizesAreText) {
  Dumps dumps = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank)
    dumps.Rank(rank).Op("all_to_all").Sizes(rank == 1 ? "[[{}%s\n" : "[[4]]");
  dumps.Run();
  Dumps other = Job(3);
  for (int32_t rank = 0; rank < 3; ++rank)
    other.Rank(rank).Op("all_reduce").Sizes(rank == 1 ? "[[{}%s" : "[[4]]");
  EXPECT_EQ(Causes(other.Run()), "size_mismatch error [1] all_reduce 1 mesh_dp");
}

}  // namespace flight_test
}  // namespace debrief::analyses::flight
