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

}  // namespace number_names_test
}  // namespace debrief
