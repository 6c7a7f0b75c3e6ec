#include "inputs/jobs/job_folders.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "unit/cpu_time.h"

namespace debrief {
namespace job_folders_test {

constexpr int64_t kSecond = 1'000'000'000;

InputEvidence Dump(std::string folder, int32_t rank, int64_t start_s = 0) {
  return {.folder = std::move(folder),
          .slot = "flight_recorder",
          .kind = EvidenceClass::kOnce,
          .strength = EvidenceStrength::kStrong,
          .rank = rank,
          .start_ns = start_s == 0 ? kNone64 : start_s * kSecond};
}

InputEvidence Text(std::string folder, int32_t rank, std::string name = "stdout.log") {
  return {.folder = std::move(folder),
          .slot = std::move(name),
          .strength = EvidenceStrength::kStrong,
          .rank = rank};
}

InputEvidence Profile(std::string folder, int32_t rank, int64_t pid) {
  return {.folder = std::move(folder),
          .slot = "chrome_trace",
          .kind = EvidenceClass::kProfile,
          .strength = EvidenceStrength::kStrong,
          .rank = rank,
          .pid = pid};
}

InputEvidence Note(std::string folder) { return {.folder = std::move(folder), .slot = "README"}; }

// The folder of the job of each input, "" for none.
std::vector<std::string> JobsOf(const std::vector<InputEvidence>& inputs) {
  std::vector<std::string> jobs(inputs.size(), "missing");
  for (const JobGroup& group : AssembleJobs(inputs)) {
    bool is_job = group.strength() == EvidenceStrength::kStrong;
    for (size_t i : group.inputs()) jobs[i] = is_job ? group.folder : "";
  }
  return jobs;
}

using Names = std::vector<std::string>;

TEST(JobFolders, NothingGivesNothing) { EXPECT_TRUE(AssembleJobs({}).empty()); }

TEST(JobFolders, KindsCompleteEachOther) {
  EXPECT_EQ(JobsOf({Dump("j/fr", 0), Text("j/logs/none_x/attempt_0/0", 0), Text("j", kNone32),
                    Profile("j/traces", 0, 7)}),
            Names(4, "j"));
}

TEST(JobFolders, OneFolderAloneIsTheJob) {
  EXPECT_EQ(JobsOf({Note("x"), Dump("x/torch_trace", 0)}), Names(2, "x/torch_trace"));
}

TEST(JobFolders, RunsOfTheSameRanksStayApart) {
  EXPECT_EQ(JobsOf({Dump("d/run1", 0, 5), Dump("d/run2", 0, 90)}), (Names{"d/run1", "d/run2"}));
  EXPECT_EQ(JobsOf({Text("d/a", 0), Text("d/b", 0)}), (Names{"d/a", "d/b"}));
  EXPECT_EQ(JobsOf({Profile("d/a", 0, 7), Profile("d/b", 0, 8)}), (Names{"d/a", "d/b"}));
}

TEST(JobFolders, CopiesAndStepsOfOneProcessAreOneJob) {
  EXPECT_EQ(JobsOf({Dump("d/pickle", 0, 5), Dump("d/json", 0, 5)}), Names(2, "d"));
  EXPECT_EQ(JobsOf({Profile("d/step_1", 0, 7), Profile("d/step_2", 0, 7)}), Names(2, "d"));
}

TEST(JobFolders, StreamsInFoldersOfTheirNameAreOneJob) {
  EXPECT_EQ(JobsOf({Text("d/stdout", 0, "rank#.txt"), Text("d/stderr", 0, "rank#.txt")}),
            Names(2, "d"));
}

TEST(JobFolders, UnrankedRunsStayApart) {
  EXPECT_EQ(JobsOf({Text("d/a", kNone32), Text("d/b", kNone32)}), (Names{"d/a", "d/b"}));
  EXPECT_EQ(JobsOf({Text("d/a", kNone32), Text("d/b", kNone32, "other.log")}), Names(2, "d"));
}

TEST(JobFolders, WorldSizesContradict) {
  InputEvidence eight = Dump("d/a", 0), two = Dump("d/b", 1);
  eight.world_size = 8;
  two.world_size = 2;
  EXPECT_EQ(JobsOf({eight, two}), (Names{"d/a", "d/b"}));
  EXPECT_EQ(JobsOf({two, Text("d/c", 5)}), (Names{"d/b", "d/c"})) << "rank 5 of two";
}

TEST(JobFolders, HostsAreOneJob) {
  EXPECT_EQ(JobsOf({Dump("j/alpha", 0), Dump("j/alpha", 1), Dump("j/beta", 3)}), Names(3, "j"));
}

TEST(JobFolders, AttemptsAreOneJob) {
  InputEvidence first = Text("j/attempt_0/0", 0), second = Text("j/attempt_1/0", 0);
  first.attempt = 0;
  second.attempt = 1;
  EXPECT_EQ(JobsOf({first, second}), Names(2, "j"));
}

TEST(JobFolders, InACollectionOnlyEvidenceJoins) {
  std::vector<InputEvidence> inputs = {Dump("d/a/fr", 0, 5), Text("d/a/logs", 0),
                                       Dump("d/b", 0, 90), Text("d/c", 0), Note("d")};
  EXPECT_EQ(JobsOf(inputs), (Names{"d/a", "d/a", "d/b", "d/c", ""}));
  inputs = {Dump("d/node1", 0, 5), Dump("d/node2", 1, 5), Dump("d/old", 0, 900)};
  EXPECT_EQ(JobsOf(inputs), (Names{"d", "d", "d/old"}));
  inputs = {Dump("d/fr/a", 0, 5), Dump("d/fr/b", 0, 90), Text("d/logs/a", 0), Text("d/logs/b", 0)};
  EXPECT_EQ(JobsOf(inputs), (Names{"d/a", "d/b", "d/a", "d/b"}));
}

TEST(JobFolders, RootsMayBeAnywhere) {
  EXPECT_EQ(JobsOf({Dump("/x/fr", 0), Text("y/logs", 0)}), Names(2, ""));
  EXPECT_EQ(JobsOf({Dump("/x", 0)}), Names{"/x"});
  EXPECT_EQ(JobsOf({Dump("", 0), Text("logs", 0)}), Names(2, ""));
}

TEST(JobFolders, PrefixOfANameIsNoFolderAbove) {
  EXPECT_EQ(JobsOf({Dump("d/run", 0, 5), Dump("d/run.old", 0, 90), Text("d/run/logs", 0)}),
            (Names{"d/run", "d/run.old", "d/run"}));
}

TEST(JobFolders, TenThousandFoldersAreFast) {
  std::vector<InputEvidence> inputs;
  for (int32_t i = 0; i < 10'000; ++i)
    inputs.push_back(Text(fmt::format("job/node{}/attempt_0/{}", i / 8, i), i));
  const double begin = CpuSeconds();
  EXPECT_EQ(AssembleJobs(inputs).size(), 1u);
  for (InputEvidence& input : inputs) input.rank = 0;
  EXPECT_GT(AssembleJobs(inputs).size(), 1000u);
  EXPECT_LT(CpuSeconds() - begin, 4);
}

// A member of an archive may have any name.
TEST(JobFolders, VeryDeepFolderIsCheap) {
  std::string deep = "x.tar";
  for (int i = 0; i < 20'000; ++i) deep += "/a";
  const double begin = CpuSeconds();
  EXPECT_EQ(JobsOf({Dump(deep, 0), Text("x.tar", 0)}), Names(2, "x.tar"));
  EXPECT_LT(CpuSeconds() - begin, 0.5);
}

InputEvidence Node(std::string folder, std::set<int32_t> told) {
  InputEvidence text = Text(std::move(folder), kNone32, "train.log");
  text.told = std::move(told);
  return text;
}

TEST(JobFolders, TextsOfSeveralRanks) {
  EXPECT_EQ(JobsOf({Node("j/a", {0, 2}), Node("j/b", {5})}), Names(2, "j")) << "nodes";
  EXPECT_EQ(JobsOf({Node("j/a", {0, 2}), Node("j/b", {1, 2})}), (Names{"j/a", "j/b"})) << "runs";
  EXPECT_EQ(JobsOf({Node("j/node0", {}), Node("j/node1", {})}), Names(2, "j")) << "named as nodes";
  EXPECT_EQ(JobsOf({Node("j/a", {}), Node("j/b", {})}), (Names{"j/a", "j/b"}));
  EXPECT_EQ(JobsOf({Node("j/a", {0, 1}), Node("j/b", {0, 1}), Dump("j/a/fr", 0)}),
            (Names{"j/a", "j/b", "j/a"}));
}

}  // namespace job_folders_test
}  // namespace debrief
