// Groups are looked at side by side: what comes out must not depend on the number of threads.
#include "analyses/flight/blocks.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "unit/analyses/flight/dump_builder.h"

namespace debrief::analyses::flight {
namespace blocks_test {

constexpr int32_t kRanks = 64, kTeam = 4, kOps = 450;

// Teams of neighbours and teams across, and one group of all. Rank 17 has other sizes in one team,
// and rank 42 stops early.
void AddJob(Dumps& dumps) {
  std::vector<int64_t> all;
  for (int64_t rank = 0; rank < kRanks; ++rank) all.push_back(rank);
  dumps.Group("0", "default_pg", all);
  for (int64_t team = 0; team < kRanks / kTeam; ++team) {
    std::vector<int64_t> near, across;
    for (int64_t i = 0; i < kTeam; ++i) {
      near.push_back(team * kTeam + i);
      across.push_back(team + i * (kRanks / kTeam));
    }
    dumps.Group("n" + std::to_string(team), "near", near);
    dumps.Group("a" + std::to_string(team), "across", across);
  }
  std::mt19937 random(7);
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    auto dump = dumps.Rank(rank);
    const std::string near = "n" + std::to_string(rank / kTeam);
    const std::string across = "a" + std::to_string(rank % (kRanks / kTeam));
    for (int32_t op = 0; op < (rank == 42 ? kOps / 2 : kOps); ++op) {
      dump.In(op % 50 == 0 ? "0" : op % 3 == 0 ? across : near);
      const bool odd = rank == 17 && op == 100;
      dump.Op(op % 2 == 0 ? "all_reduce" : "_all_gather_base")
          .Sizes(odd ? "[[8]]" : "[[4]]")
          .Dtype("Float")
          .At(op % 7)
          .Later(static_cast<int64_t>(random() % 40))
          .Completed();
    }
  }
}

// Everything that the analysis gave, to the last id.
std::string ShowResult(const AnalysisResult& result) {
  std::string text;
  for (const Finding& finding : result.findings)
    text += fmt::format("{} {} {}\n", finding.rule, finding.headline, finding.why);
  for (uint32_t id = 0; id < result.part.pools.strings.size(); ++id)
    text += fmt::format("{} {}\n", id, result.part.pools.Text(StringId{id}));
  for (uint32_t id = 0; id < result.part.pools.lists.size(); ++id)
    text += fmt::format("{} {}\n", id, fmt::join(result.part.pools.lists.Get(ListId{id}), " "));
  for (TableId id = 0; id < AllTables().size(); ++id) {
    const Table* table = result.part.tables.Find(id);
    if (table == nullptr) continue;
    text += fmt::format("{} {}\n", table->info().name, table->size());
    for (size_t column = 0; column < table->info().columns.size(); ++column) {
      const bool wide = table->info().columns[column].type == ColumnType::kInt64;
      if (wide) {
        for (size_t row = 0; row < table->size(); ++row)
          text += fmt::format("{} ", ValueAt<int64_t>(*table, column, row));
      } else if (table->info().columns[column].type != ColumnType::kBool &&
                 table->info().columns[column].type != ColumnType::kDouble) {
        for (size_t row = 0; row < table->size(); ++row)
          text += fmt::format("{} ", ValueAt<int32_t>(*table, column, row));
      }
    }
  }
  return text;
}

std::string RunWith(const Model& model, ThreadPool* pool) {
  AnalysisResult result;
  result.pool = pool;
  EXPECT_TRUE(RunDeclared(Describe(), model, result).ok());
  return ShowResult(result);
}

TEST(FlightBlocks, AnyNumberOfThreadsGivesTheSame) {
  Dumps dumps;
  AddJob(dumps);
  const Model& model = dumps.Finish();
  const std::string alone = RunWith(model, nullptr);
  EXPECT_NE(alone.find("flight.size_mismatch"), std::string::npos);
  for (int threads : {1, 2, 5, 16}) {
    ThreadPool pool(threads);
    const std::string beside = RunWith(model, &pool);
    EXPECT_EQ(alone == beside, true) << threads << " threads";
  }
}

TEST(FlightBlocks, CoverAllGroupsInOrder) {
  Dumps dumps;
  AddJob(dumps);
  ThreadPool pool(16);
  const Index index(dumps.Finish(), 0, 0, &pool);
  const std::vector<GroupBlock> blocks = BlocksOf(index);
  EXPECT_GT(blocks.size(), 2u);
  size_t next = 0;
  for (const GroupBlock& block : blocks) {
    EXPECT_EQ(block.begin, next);
    EXPECT_LT(block.begin, block.end);
    next = block.end;
  }
  EXPECT_EQ(next, index.groups.size());
  const Index alone(dumps.model, 0, 0);
  EXPECT_EQ(BlocksOf(alone).size(), 1u);
}

}  // namespace blocks_test
}  // namespace debrief::analyses::flight
