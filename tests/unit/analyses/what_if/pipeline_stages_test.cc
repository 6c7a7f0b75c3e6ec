// Who is which stage of a pipeline, by who sends to whom.
#include <gtest/gtest.h>

#include "analyses/what_if/profile_edits.h"
#include "tables/profile_collective_match.h"

namespace debrief::analyses::what_if {
namespace pipeline_stages_test {

using Pair = std::pair<int64_t, int64_t>;

std::vector<int32_t> StagesOf(int32_t ranks, const std::vector<Pair>& pairs,
                              std::string_view description) {
  Model model;
  ProfileGraph graph;
  for (int32_t rank = 0; rank < ranks; ++rank) graph.lanes.push_back({.rank = rank});
  for (const auto& [low, high] : pairs) {
    graph.match.push_back(static_cast<uint32_t>(graph.match.size()));
    ProfileCollectiveMatchRow row;
    row.op = model.pools.Intern("send_recv");
    row.group_desc = model.pools.Intern(description);
    row.ranks = model.pools.lists.Intern(std::vector<int64_t>{low, high});
    model.tables.Edit<ProfileCollectiveMatchTable>().Add(row);
  }
  graph.match.push_back(kNoMoment);
  return PipelineStages(model, graph);
}

TEST(PipelineStages, ChainsAreReplicas) {
  EXPECT_EQ(StagesOf(4, {{0, 2}, {1, 3}, {0, 2}}, "mesh_pp"), (std::vector<int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(StagesOf(4, {{2, 3}, {0, 1}, {1, 2}}, ""), (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(PipelineStages, ARingIsCutAtItsLowestRank) {
  EXPECT_EQ(StagesOf(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}, "PIPELINE_MODEL_PARALLEL_GROUP"),
            (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(PipelineStages, NoneWithoutAPipeline) {
  EXPECT_TRUE(StagesOf(4, {}, "mesh_pp").empty());
  // Rings of context parallelism, ranks that send to many, chains that differ, ranks in none.
  EXPECT_TRUE(StagesOf(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}, "mesh_cp").empty());
  EXPECT_TRUE(StagesOf(4, {{0, 1}, {0, 2}, {0, 3}}, "mesh_pp").empty());
  EXPECT_TRUE(StagesOf(5, {{0, 1}, {2, 3}, {3, 4}}, "mesh_pp").empty());
  EXPECT_TRUE(StagesOf(3, {{0, 1}}, "mesh_pp").empty());
}

}  // namespace pipeline_stages_test
}  // namespace debrief::analyses::what_if
