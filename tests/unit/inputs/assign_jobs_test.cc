#include "inputs/assign_jobs.h"

#include <gtest/gtest.h>

#include "tables/attempt.h"
#include "tables/job.h"
#include "tables/rank.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace assign_jobs_test {

using testing::FindImporter;
using testing::NotesOf;

constexpr int64_t kSecond = 1'000'000'000;

FoundInput Input(std::string folder, std::string name, std::string_view kind = "flight_recorder") {
  FoundInput input;
  input.folder = std::move(folder);
  input.name = std::move(name);
  input.path = input.folder + "/" + input.name;
  input.importer = FindImporter(kind);
  return input;
}

struct Assigned {
  std::vector<FoundInput> inputs;
  Model model;
  const JobTable& jobs() const { return model.tables.Get<JobTable>(); }
  std::string NameOf(size_t job) const { return std::string(model.pools.Text(jobs().name[job])); }
};

void Assign(Assigned& all) { AssignJobs(all.inputs, all.model); }

TEST(AssignJobs, NothingGivesNothing) {
  Assigned all;
  Assign(all);
  EXPECT_EQ(all.jobs().size(), 0u);
}

TEST(AssignJobs, RankByNameContentFormatFolder) {
  Assigned all;
  all.inputs.push_back(Input("j/rank_9", "x_rank1"));
  all.inputs.back().recognition = {.mine = true, .rank = 1, .rank_in_name = 3};
  all.inputs.push_back(Input("j/rank_9", "x"));
  all.inputs.back().recognition = {.mine = true, .rank = 2, .rank_in_name = 3};
  all.inputs.push_back(Input("j/rank_9", "x_3"));
  all.inputs.back().recognition = {.mine = true, .rank_in_name = 3};
  all.inputs.push_back(Input("j/rank_9/logs", "x"));
  all.inputs.push_back(Input("j", "x"));
  Assign(all);
  std::vector<int32_t> ranks;
  for (const FoundInput& input : all.inputs) ranks.push_back(input.who.rank);
  EXPECT_EQ(ranks, (std::vector<int32_t>{1, 2, 3, 9, kNone32}));
  for (const FoundInput& input : all.inputs) EXPECT_EQ(NotesOf(input), "");
}

TEST(AssignJobs, DisagreeingRankIsNoted) {
  Assigned all;
  all.inputs.push_back(Input("j", "x_rank1"));
  all.inputs.back().recognition = {.mine = true, .rank = 4};
  Assign(all);
  EXPECT_EQ(all.inputs[0].who.rank, 1);
  EXPECT_EQ(NotesOf(all.inputs[0]), "input.rank_disagrees");
  EXPECT_EQ(all.inputs[0].notes[0].occurrence.detail, "name: rank 1, content: rank 4");
}

TEST(AssignJobs, HostsGoIntoTheRankTable) {
  Assigned all;
  all.inputs.push_back(Input("j", "stdout_rank5.txt", "job_text"));
  all.inputs.push_back(Input("j", "nccl_trace_rank_node02_5"));
  all.inputs.push_back(Input("j", "nccl_trace_rank_node01_0"));
  Assign(all);
  const auto& ranks = all.model.tables.Get<RankTable>();
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks.rank, (std::vector<int32_t>{0, 5}));
  EXPECT_EQ(ranks.inputs, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(all.model.pools.Text(ranks.host[0]), "node01");
  EXPECT_EQ(all.model.pools.Text(ranks.host[1]), "node02");
}

TEST(AssignJobs, WorldSizesSplitAFolder) {
  Assigned all;
  all.inputs.push_back(Input("d", "a_rank0"));
  all.inputs.back().recognition.world_size = 2;
  all.inputs.push_back(Input("d", "b_rank0"));
  all.inputs.back().recognition.world_size = 4;
  all.inputs.push_back(Input("e", "a_rank0"));
  all.inputs.back().recognition.world_size = 8;
  all.inputs.push_back(Input("e", "stdout_rank1.txt", "job_text"));
  Assign(all);
  ASSERT_EQ(all.jobs().size(), 3u);
  EXPECT_EQ(all.jobs().world_size, (std::vector<int32_t>{2, 4, 8}));
  EXPECT_EQ(all.jobs().inputs, (std::vector<int32_t>{1, 1, 2}));
  EXPECT_EQ(all.NameOf(0), "d (world size 2)");
  EXPECT_EQ(all.NameOf(2), "e");
}

TEST(AssignJobs, NotesAndUnknownFilesAreOfNoJob) {
  Assigned all;
  all.inputs.push_back(Input("d", "README", "job_text"));
  all.inputs.push_back(Input("d", "x.bin", "no such importer"));
  all.inputs.push_back(Input("e", "README", "job_text"));
  all.inputs.push_back(Input("e", "dump_rank0"));
  Assign(all);
  ASSERT_EQ(all.jobs().size(), 1u);
  EXPECT_EQ(all.inputs[0].who.job, kNone32);
  EXPECT_EQ(all.inputs[1].who.job, kNone32);
  EXPECT_EQ(all.inputs[2].who.job, 0) << "what lies beside evidence is of its job";
  EXPECT_EQ(all.inputs[3].who.job, 0);
}

TEST(AssignJobs, AttemptsFillTheirTables) {
  Assigned all;
  for (int64_t start : {100, 900}) {
    for (int32_t rank : {0, 1}) {
      all.inputs.push_back(Input("j", "t_rank" + std::to_string(rank) + ".log", "torch_trace"));
      all.inputs.back().recognition = {.mine = true, .start_ns = (start + rank) * kSecond};
    }
  }
  all.inputs.push_back(Input("j", "nccl_rank_0"));
  Assign(all);
  EXPECT_EQ(all.jobs().attempts, std::vector<int32_t>{2});
  const auto& attempts = all.model.tables.Get<AttemptTable>();
  EXPECT_EQ(attempts.attempt, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(attempts.start_ns, (std::vector<int64_t>{100 * kSecond, 900 * kSecond}));
  EXPECT_EQ(attempts.inputs, (std::vector<int32_t>{2, 3}));
  const auto& ranks = all.model.tables.Get<RankTable>();
  EXPECT_EQ(ranks.attempt, (std::vector<int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(ranks.rank, (std::vector<int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(ranks.inputs, (std::vector<int32_t>{1, 1, 2, 1}));
}

TEST(AssignJobs, AttemptFoldersOfTorchrun) {
  Assigned all;
  all.inputs.push_back(Input("j/attempt_0/0", "stdout.log", "job_text"));
  all.inputs.push_back(Input("j/attempt_1/0", "stdout.log", "job_text"));
  all.inputs.push_back(Input("j/attempt_1/1", "stdout.log", "job_text"));
  Assign(all);
  ASSERT_EQ(all.jobs().size(), 1u);
  EXPECT_EQ(all.NameOf(0), "j");
  EXPECT_EQ(all.inputs[0].who.attempt, 0);
  EXPECT_EQ(all.inputs[2].who.attempt, 1);
  EXPECT_EQ(all.inputs[2].who.rank, 1);
}

TEST(AssignJobs, StandardInputHasItsName) {
  Assigned all;
  all.inputs.push_back(Input("", "stdin", "op_trace"));
  all.inputs.back().path = "(stdin)";
  Assign(all);
  ASSERT_EQ(all.jobs().size(), 1u);
  EXPECT_EQ(all.NameOf(0), "(stdin)");
}

}  // namespace assign_jobs_test
}  // namespace debrief
