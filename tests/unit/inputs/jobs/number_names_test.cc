#include "inputs/jobs/number_names.h"

#include <gtest/gtest.h>

namespace debrief {
namespace number_names_test {

using Numbers = std::vector<int32_t>;

std::vector<NumberedName> Named(const std::vector<std::string>& names) {
  std::vector<NumberedName> all;
  for (const std::string& name : names) all.push_back({.name = name});
  return all;
}

Numbers RanksOf(const std::vector<NumberedName>& names) {
  Numbers ranks;
  for (const CountedNumbers& counted : RanksOfNames(names)) ranks.push_back(counted.rank);
  return ranks;
}

TEST(NumberNames, SlurmTasks) {
  EXPECT_EQ(RanksOf(Named({"llm_4711_node01_0.out", "llm_4711_node01_1.out",
                           "llm_4711_node02_2.out", "llm_4711_node02_2.err"})),
            (Numbers{0, 1, 2, 2}));
}

TEST(NumberNames, PodsAndTheirMaster) {
  EXPECT_EQ(RanksOf(Named({"llm-master-0.log", "llm-worker-0.log", "llm-worker-1.log"})),
            (Numbers{0, 1, 2}));
  EXPECT_EQ(RanksOf(Named({"set-node-0-0-x7k2p.log", "set-node-0-1-b5c6d.log"})), (Numbers{0, 1}));
}

TEST(NumberNames, RankAndAttempt) {
  auto counted = RanksOfNames(
      Named({"x_0.0.out", "x_1.0.out", "x_2.0.out", "x_0.1.out", "x_1.1.out", "x_2.1.out"}));
  EXPECT_EQ(counted[4].rank, 1);
  EXPECT_EQ(counted[4].attempt, 1);
  EXPECT_EQ(counted[2].rank, 2);
  EXPECT_EQ(counted[2].attempt, 0);
}

TEST(NumberNames, RunAndRank) {
  auto counted =
      RanksOfNames(Named({"x_4711_0.out", "x_4711_1.out", "x_4712_0.out", "x_4712_1.out"}));
  EXPECT_EQ(counted[1].rank, 1);
  EXPECT_EQ(counted[1].run, 4711);
  EXPECT_EQ(counted[2].rank, 0);
  EXPECT_EQ(counted[2].run, 4712);
}

TEST(NumberNames, OtherCountsAreNoRanks) {
  const Numbers none(2, kNone32);
  EXPECT_EQ(RanksOf(Named({"step_0.log", "step_1.log"})), none);
  EXPECT_EQ(RanksOf(Named({"node0.log", "node1.log"})), none);
  EXPECT_EQ(RanksOf(Named({"train.log.0", "train.log.1"})), none);
  EXPECT_EQ(RanksOf(Named({"stacks_20261115_232100.txt", "stacks_20261115_232108.txt"})), none);
  EXPECT_EQ(RanksOf(Named({"a_7.log", "a_9.log"})), none);
  EXPECT_EQ(RanksOf(Named({"a_3.log"})), Numbers{kNone32});
  EXPECT_EQ(RanksOf(Named({"p2p_size.txt", "p3p_size.txt"})), none);
}

TEST(NumberNames, ContentDecides) {
  std::vector<NumberedName> names = Named({"a_0.log", "a_1.log"});
  names[1].content_rank = 5;
  EXPECT_EQ(RanksOf(names), Numbers(2, kNone32));
  names[1].content_rank = 1;
  EXPECT_EQ(RanksOf(names), (Numbers{0, 1}));
  names[0].several = true;
  EXPECT_EQ(RanksOf(names), Numbers(2, kNone32)) << "a node, not a rank";
}

TEST(NumberNames, HostileNames) {
  EXPECT_EQ(RanksOf(Named({"", "#", std::string(5000, '9'), "0"})), Numbers(4, kNone32));
}

TEST(NumberNames, NodeAndLocalRank) {
  EXPECT_EQ(
      RanksOf(Named({"node0_gpu0.log", "node0_gpu1.log", "node1_gpu0.log", "node1_gpu1.log"})),
      (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(
      RanksOf(Named({"node1_gpu0.out", "node1_gpu1.out", "node2_gpu1.out", "node2_gpu1.err"})),
      (Numbers{0, 1, 3, 3}));
  auto told = Named({"ip-3-7_l0.log", "ip-3-7_l1.log", "ip-3-9_l0.log", "ip-3-9_l1.log"});
  EXPECT_EQ(RanksOf(told), Numbers(4, kNone32)) << "any of the two may be the first";
  told[1].content_rank = 1;
  told[2].content_rank = 2;
  EXPECT_EQ(RanksOf(told), (Numbers{0, 1, 2, 3}));
  told[2].content_rank = 0;
  EXPECT_EQ(RanksOf(told), Numbers(4, kNone32)) << "the nodes are the other way round";
}

TEST(NumberNames, FromOne) {
  EXPECT_EQ(RanksOf(Named({"x_1of3.log", "x_2of3.log", "x_3of3.log"})), (Numbers{0, 1, 2}));
  EXPECT_EQ(RanksOf(Named({"x_0_of_3.log", "x_1_of_3.log", "x_2_of_3.log"})), (Numbers{0, 1, 2}));
  auto told = Named({"out-1.txt", "out-2.txt", "out-3.txt"});
  told[0].content_rank = 0;
  told[2].content_rank = 2;
  EXPECT_EQ(RanksOf(told), (Numbers{0, 1, 2}));
}

}  // namespace number_names_test
}  // namespace debrief
