#include "inputs/jobs/assign_jobs.h"

#include <fmt/format.h>
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
  all.inputs.back().recognition = {.mine = true, .rank = 1, .rank_in_name = 5};
  all.inputs.push_back(Input("j/rank_9", "x"));
  all.inputs.back().recognition = {.mine = true, .rank = 2, .rank_in_name = 6};
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

TEST(AssignJobs, NotesGoWithTheJobAndMakeNone) {
  Assigned alone;
  alone.inputs.push_back(Input("d", "README", "job_text"));
  alone.inputs.push_back(Input("d", "x.bin", "no such importer"));
  alone.inputs.back().bytes = 9;
  Assign(alone);
  EXPECT_EQ(alone.jobs().size(), 0u);
  EXPECT_EQ(alone.inputs[0].who.job, kNone32);
  Assigned all;
  all.inputs.push_back(Input("d", "README", "job_text"));
  all.inputs.push_back(Input("d/a", "dump_rank0"));
  Assign(all);
  ASSERT_EQ(all.jobs().size(), 1u);
  EXPECT_EQ(all.NameOf(0), "d/a");
  EXPECT_EQ(all.inputs[0].who.job, 0);
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

TEST(AssignJobs, TextWithoutARankIsAJobWhereNothingElseIs) {
  Assigned all;
  all.inputs.push_back(Input("d", "notes", "job_text"));
  Assign(all);
  ASSERT_EQ(all.jobs().size(), 1u);
  EXPECT_EQ(all.NameOf(0), "d");
  EXPECT_EQ(all.inputs[0].who.job, 0);
}

TEST(AssignJobs, NodesCountFromTheirFirstRank) {
  Assigned all;
  for (const char* node : {"a", "b"}) {
    for (const char* local : {"0", "1"})
      all.inputs.push_back(
          Input(fmt::format("j/{}/none_x/attempt_0/{}", node, local), "stderr.log", "job_text"));
  }
  all.inputs.back().text.ranks = {3};
  Assign(all);
  ASSERT_EQ(all.jobs().size(), 1u);
  EXPECT_EQ(all.NameOf(0), "j");
  std::vector<int32_t> ranks;
  for (const FoundInput& input : all.inputs) ranks.push_back(input.who.rank);
  EXPECT_EQ(ranks, (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(all.inputs[2].host, "b");
}

TEST(AssignJobs, NodesWithoutEvidenceKeepTheirLocalRanks) {
  Assigned all;
  for (const char* node : {"a", "b"}) {
    for (const char* local : {"0", "1"})
      all.inputs.push_back(
          Input(fmt::format("j/{}/none_x/attempt_0/{}", node, local), "stdout.log", "job_text"));
  }
  all.inputs.push_back(Input("j/fr", "nccl_trace_rank_0"));
  all.inputs.back().recognition.world_size = 4;
  Assign(all);
  ASSERT_EQ(all.jobs().size(), 1u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(all.inputs[i].who.rank, kNone32);
  EXPECT_EQ(all.inputs[1].local_rank, 1);
}

TEST(AssignJobs, GroupsOfNcclAreNoWorlds) {
  Assigned all;
  for (int rank = 0; rank < 8; ++rank) {
    all.inputs.push_back(Input("j", fmt::format("stdout_rank{}.txt", rank), "job_text"));
    all.inputs.back().text.world_size = rank % 2 == 0 ? 4 : 2;
  }
  Assign(all);
  ASSERT_EQ(all.jobs().size(), 1u);
  EXPECT_EQ(all.jobs().world_size[0], 8);
}

TEST(AssignJobs, RunsIntoOneFolderAreAttempts) {
  Assigned all;
  all.inputs.push_back(Input("j/logs/none_aaaaaaaa/attempt_0/0", "stdout.log", "job_text"));
  all.inputs.push_back(Input("j/logs/none_bbbbbbbb/attempt_0/0", "stdout.log", "job_text"));
  Assign(all);
  ASSERT_EQ(all.jobs().size(), 1u);
  EXPECT_EQ(all.inputs[0].who.attempt, 0);
  EXPECT_EQ(all.inputs[1].who.attempt, 1);
}

TEST(AssignJobs, RunsOfASchedulerShareAFolder) {
  Assigned all;
  for (const char* name : {"llm_4711_0.out", "llm_4711_1.out", "llm_4712_0.out", "llm_4712_1.out",
                           "slurm-4711.out", "slurm-4712.out", "summary_4712.log"})
    all.inputs.push_back(Input("logs", name, "job_text"));
  Assign(all);
  ASSERT_EQ(all.jobs().size(), 2u);
  EXPECT_EQ(all.NameOf(0), "logs (run 4711)");
  std::vector<int32_t> jobs;
  for (const FoundInput& input : all.inputs) jobs.push_back(input.who.job);
  EXPECT_EQ(jobs, (std::vector<int32_t>{0, 0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(all.inputs[3].who.rank, 1);
}

TEST(AssignJobs, ProcessTellsTheRank) {
  Assigned all;
  all.inputs.push_back(Input("j/kineto", "a.json", "chrome_trace"));
  all.inputs.back().recognition = {.mine = true, .rank = 5, .pid = 4711};
  all.inputs.push_back(Input("j/et", "b.json", "execution_trace"));
  all.inputs.back().recognition = {.mine = true, .pid = 4711};
  Assign(all);
  ASSERT_EQ(all.jobs().size(), 1u);
  EXPECT_EQ(all.inputs[1].who.rank, 5);
}

TEST(AssignJobs, TheUserDecides) {
  Assigned all;
  for (const char* run : {"r/a", "r/b"})
    all.inputs.push_back(Input(run, "stdout_rank0.txt", "job_text"));
  AssignJobs(all.inputs, all.model, {.one_job = true, .named = {}});
  EXPECT_EQ(all.jobs().size(), 1u);
  Assigned named;
  for (const char* run : {"r/a", "r/b"})
    named.inputs.push_back(Input(run, "stdout_rank0.txt", "job_text"));
  AssignJobs(named.inputs, named.model, {.named = {{"mine", "*/b/*"}}});
  ASSERT_EQ(named.jobs().size(), 2u);
  EXPECT_EQ(named.NameOf(0), "mine");
  EXPECT_EQ(named.inputs[1].who.job, 0);
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
