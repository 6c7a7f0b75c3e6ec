#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "inputs/assign_jobs.h"

namespace debrief {
namespace job_folders_test {

using Folders = std::map<std::string, FolderContent>;
using Jobs = std::map<std::string, std::string>;

FolderContent Ranks(std::set<int32_t> ranks) { return {true, false, std::move(ranks)}; }
FolderContent Unranked() { return {true, true, {}}; }
FolderContent Notes() { return {}; }

TEST(JobFolders, NothingGivesNothing) { EXPECT_TRUE(FoldFolders({}).empty()); }

TEST(JobFolders, FolderOfDataBelongsToTheJobAbove) {
  Folders folders = {{"job", Ranks({0, 1})}, {"job/torch_trace", Ranks({0, 1})}};
  EXPECT_EQ(FoldFolders(folders), (Jobs{{"job", "job"}, {"job/torch_trace", "job"}}));
}

TEST(JobFolders, SeveralFoldersOfDataAreOneJob) {
  Folders folders = {{"job/logs", Ranks({0})}, {"job/traces", Ranks({0})}};
  EXPECT_EQ(FoldFolders(folders),
            (Jobs{{"job", "job"}, {"job/logs", "job"}, {"job/traces", "job"}}));
}

TEST(JobFolders, OneFolderOfDataAloneIsTheJob) {
  EXPECT_EQ(FoldFolders({{"x/torch_trace", Ranks({0})}}),
            (Jobs{{"x/torch_trace", "x/torch_trace"}}));
  // A note beside it is no evidence of a job above.
  EXPECT_EQ(FoldFolders({{"x", Notes()}, {"x/torch_trace", Ranks({0})}}).at("x/torch_trace"),
            "x/torch_trace");
}

TEST(JobFolders, FilesOfACompilerBelongToTheFolderAbove) {
  Jobs jobs = FoldFolders({{"job", Ranks({0})},
                           {"job/inductor-spyre/bmm/perf", Unranked()},
                           {"job/inductor-spyre/sub/perf", Unranked()}});
  EXPECT_EQ(jobs.at("job/inductor-spyre/bmm/perf"), "job");
  EXPECT_EQ(jobs.at("job/inductor-spyre/sub/perf"), "job");
}

TEST(JobFolders, NodesWithDisjointRanksAreOneJob) {
  Jobs jobs = FoldFolders({{"job/node01", Ranks({0, 1})}, {"job/node02", Ranks({4, 5})}});
  EXPECT_EQ(jobs.at("job/node01"), "job");
  EXPECT_EQ(jobs.at("job/node02"), "job");
}

TEST(JobFolders, HostsWithoutNumbersMustCompleteEachOther) {
  Jobs whole = FoldFolders({{"job/alpha", Ranks({0, 1})}, {"job/beta", Ranks({2, 3})}});
  EXPECT_EQ(whole.at("job/alpha"), "job");
  EXPECT_EQ(whole.at("job/beta"), "job");
  Jobs hole = FoldFolders({{"job/alpha", Ranks({0, 1})}, {"job/beta", Ranks({3})}});
  EXPECT_EQ(hole.at("job/alpha"), "job/alpha");
  EXPECT_EQ(hole.at("job/beta"), "job/beta");
  Jobs late = FoldFolders({{"job/alpha", Ranks({1})}, {"job/beta", Ranks({2})}});
  EXPECT_EQ(late.at("job/alpha"), "job/alpha");
}

TEST(JobFolders, RunsWithTheSameRanksStayApart) {
  Jobs jobs = FoldFolders({{"d/run1", Ranks({0, 1})}, {"d/run2", Ranks({0, 1})}});
  EXPECT_EQ(jobs, (Jobs{{"d/run1", "d/run1"}, {"d/run2", "d/run2"}}));
}

TEST(JobFolders, UnrankedRunsStayApart) {
  Jobs jobs = FoldFolders({{"d/run1", Unranked()}, {"d/run2", Unranked()}});
  EXPECT_EQ(jobs, (Jobs{{"d/run1", "d/run1"}, {"d/run2", "d/run2"}}));
}

TEST(JobFolders, TorchrunOverSeveralLevels) {
  Jobs jobs = FoldFolders({{"job/node01/attempt_0/0", Ranks({0})},
                           {"job/node01/attempt_1/0", Ranks({0})},
                           {"job/node02/attempt_0/1", Ranks({1})},
                           {"other/attempt_0/0", Ranks({0})}});
  EXPECT_EQ(jobs.at("job/node01/attempt_0/0"), "job");
  EXPECT_EQ(jobs.at("job/node01/attempt_1/0"), "job");
  EXPECT_EQ(jobs.at("job/node02/attempt_0/1"), "job");
  EXPECT_EQ(jobs.at("other/attempt_0/0"), "other");
}

TEST(JobFolders, RunsOfRankFoldersStayApart) {
  Jobs jobs = FoldFolders({{"d/run1/rank_0", Ranks({0})},
                           {"d/run1/rank_1", Ranks({1})},
                           {"d/run2/rank_0", Ranks({0})}});
  EXPECT_EQ(jobs.at("d/run1/rank_0"), "d/run1");
  EXPECT_EQ(jobs.at("d/run1/rank_1"), "d/run1");
  EXPECT_EQ(jobs.at("d/run2/rank_0"), "d/run2");
}

TEST(JobFolders, RelativeAndAbsoluteRoots) {
  EXPECT_EQ(FoldFolders({{"rank_0", Ranks({0})}, {"rank_1", Ranks({1})}}).at("rank_1"), ".");
  EXPECT_EQ(FoldFolders({{".", Ranks({0})}, {"logs", Ranks({0})}}).at("logs"), ".");
  EXPECT_EQ(FoldFolders({{"/", Ranks({0})}}).at("/"), "/");
  EXPECT_EQ(FoldFolders({{"/t/rank_0", Ranks({0})}}).at("/t/rank_0"), "/t");
}

TEST(JobFolders, LargestRankDoesNotOverflow) {
  Jobs jobs = FoldFolders({{"d/a", Ranks({0})}, {"d/b", Ranks({2147483647})}});
  EXPECT_EQ(jobs.at("d/a"), "d/a");
}

TEST(JobFolders, EveryFolderHasAJobThatIsItselfOrAbove) {
  Folders folders;
  for (const char* a : {"x", "run1", "logs", "attempt_0"}) {
    for (const char* b : {"rank_0", "node1", "7", "torch_trace"}) {
      for (const char* c : {"nccl", "3", "z"}) {
        folders[fmt::format("{}/{}/{}", a, b, c)] = Ranks({static_cast<int32_t>(folders.size())});
        folders[fmt::format("{}/{}", a, b)] = Notes();
      }
    }
  }
  Jobs jobs = FoldFolders(folders);
  for (const auto& [folder, content] : folders) {
    ASSERT_TRUE(jobs.contains(folder)) << folder;
    const std::string& job = jobs.at(folder);
    EXPECT_TRUE(job == "." || job == folder || folder.starts_with(job + "/")) << folder << job;
  }
}

TEST(JobFolders, TenThousandFoldersAreFast) {
  Folders folders;
  for (int32_t i = 0; i < 10'000; ++i) {
    folders[fmt::format("job/node{}/attempt_0/{}", i / 8, i)] = Ranks({i});
  }
  auto begin = std::chrono::steady_clock::now();
  Jobs jobs = FoldFolders(folders);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  for (const auto& [folder, content] : folders) EXPECT_EQ(jobs.at(folder), "job");
}

// A member of an archive may have any name.
TEST(JobFolders, VeryDeepFolderIsCheap) {
  std::string deep = "x.tar";
  for (int i = 0; i < 20'000; ++i) deep += "/a";
  auto begin = std::chrono::steady_clock::now();
  Jobs jobs = FoldFolders({{deep, Ranks({0})}, {"x.tar", Ranks({0})}});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
  EXPECT_EQ(jobs.at(deep), deep);
}

}  // namespace job_folders_test
}  // namespace debrief
