#include "inputs/jobs/name_clues.h"

#include <gtest/gtest.h>

#include "unit/base/bytes/stream_helpers.h"

namespace debrief {
namespace name_clues_test {

struct Expected {
  std::string name;
  int32_t rank;
  std::string host;
};

// Every form of docs/formats/names.md that the name alone decides.
TEST(NameClues, DocumentedForms) {
  const std::vector<Expected> all = {
      {"dedicated_log_torch_trace_rank_3_x1y2.log", 3, ""},
      {"stdout_rank3.txt", 3, ""},
      {"profile_rank3.json.gz", 3, ""},
      {"nccl_trace_rank_3", 3, ""},
      {"nccl_trace_json_rank_3.json", 3, ""},
      {"rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", 0, ""},
      {"rank=0.log", 0, ""},
      {"rank.7.log", 7, ""},
      {"RANK_12.LOG", 12, ""},
      {"nccl_trace_rank_container-node02_5", 5, "container-node02"},
      {"nccl_trace_rank_host_a_5.json", 5, "host_a"},
      {"node02_4711.1700000000000.pt.trace.json", kNone32, "node02"},
      {"node_02_4711.1700000000000.pt.trace.json.gz", kNone32, "node_02"},
      {"local_rank_3.log", kNone32, ""},
      {"local-rank-3.log", kNone32, ""},
      {"local_rank_3_rank_11.log", 11, ""},
      {"nemo_log_globalrank-3_localrank-1.txt", 3, ""},
      {"node_rank_1.log", kNone32, ""},
      {"noderank-1.log", kNone32, ""},
      {"global_rank_4.txt", 4, ""},
      {"_dump_12", kNone32, ""},  // only the Flight Recorder's sniffer may say so
      {"comm7", kNone32, ""},
  };
  for (const Expected& expected : all) {
    NameClues clues = CluesOfFile(expected.name);
    EXPECT_EQ(clues.rank, expected.rank) << expected.name;
    EXPECT_EQ(clues.host, expected.host) << expected.name;
  }
}

TEST(NameClues, HostileNamesTellNothing) {
  const std::vector<std::string> all = {"",
                                        "rank",
                                        "rank_",
                                        "rank-",
                                        "rank=.log",
                                        "rank_-3",
                                        "rank99999999999",
                                        "rank2147483648",
                                        "frank3",
                                        "prank_4.log",
                                        "ranking_5",
                                        "rank__",
                                        "rank_host_",
                                        "rank_host_5x",
                                        "rank_host_99999999999",
                                        "r\xc3\xa4nk3",
                                        "rank\xef\xbc\x93",
                                        "_.1.pt.trace.json",
                                        "_1.2.pt.trace.json",
                                        "x_.2.pt.trace.json",
                                        "x_1..pt.trace.json",
                                        ".pt.trace.json",
                                        "1.pt.trace.json"};
  for (const std::string& name : all) {
    NameClues clues = CluesOfFile(name);
    EXPECT_EQ(clues.rank, kNone32) << name;
    EXPECT_EQ(clues.host, "") << name;
  }
  EXPECT_EQ(CluesOfFile("rank2147483647").rank, 2147483647);
  EXPECT_EQ(CluesOfFile("rank_007").rank, 7);
}

TEST(NameClues, LongNames) {
  std::string name;
  while (name.size() < 10'000) name += "rank_";
  EXPECT_EQ(CluesOfFile(name).rank, kNone32);
  EXPECT_EQ(CluesOfFile(name + "4").rank, 4);
  EXPECT_EQ(CluesOfFile(std::string(10'000, '_')).rank, kNone32);
  EXPECT_EQ(CluesOfFile("rank" + std::string(10'000, '9')).rank, kNone32);
  CluesOfFile(testing::Noise(10'000));
}

TEST(NameClues, AttemptLocalRankAndProcess) {
  EXPECT_EQ(CluesOfFile("stdout_rank3_attempt1.log").attempt, 1);
  EXPECT_EQ(CluesOfFile("train_4711_restart2_5.out").attempt, 2);
  EXPECT_EQ(CluesOfFile("job_cycle3.log").attempt, 3);
  EXPECT_EQ(CluesOfFile("lifecycle3.log").attempt, kNone32);
  EXPECT_EQ(CluesOfFile("attempts.log").attempt, kNone32);
  EXPECT_EQ(CluesOfFile("nemo_log_globalrank-3_localrank-1.txt").local_rank, 1);
  EXPECT_EQ(CluesOfFile("worker-0123456789abcdef0123456789abcdef0123456789abcdef01234567-01000000-"
                        "4711.out")
                .pid,
            4711);
  EXPECT_EQ(CluesOfFile("llm-worker-3.log").pid, kNone64);
}

void ExpectFolder(std::string_view name, std::string_view parent, FolderRole role,
                  int32_t number = kNone32) {
  FolderClues clues = CluesOfFolder(name, parent);
  EXPECT_EQ(clues.role, role) << parent << "/" << name;
  EXPECT_EQ(clues.number, number) << parent << "/" << name;
}

TEST(NameClues, Folders) {
  ExpectFolder("rank_3", "job", FolderRole::kRank, 3);
  ExpectFolder("Rank3", "job", FolderRole::kRank, 3);
  ExpectFolder("attempt_0", "job", FolderRole::kAttempt, 0);
  ExpectFolder("3", "attempt_0", FolderRole::kLocalRank, 3);
  ExpectFolder("rank.03", "1", FolderRole::kRank, 3);
  ExpectFolder("node_rank_1", "job", FolderRole::kNode, 1);
  ExpectFolder("restart1", "job", FolderRole::kAttempt, 1);
  ExpectFolder("3", "job", FolderRole::kPlain);
  ExpectFolder("", "attempt_0", FolderRole::kPlain);
  ExpectFolder("99999999999", "attempt_0", FolderRole::kPlain);
  ExpectFolder("3x", "attempt_0", FolderRole::kPlain);
  ExpectFolder("attempt_", "job", FolderRole::kPlain);
  ExpectFolder("attempt_x", "job", FolderRole::kPlain);
  ExpectFolder("torch_trace", "job", FolderRole::kData);
  ExpectFolder("LOGS", "job", FolderRole::kData);
  ExpectFolder("local_rank_3", "job", FolderRole::kLocalRank, 3);
  ExpectFolder("rank_host_3", "job", FolderRole::kPlain);
  ExpectFolder("ranks", "job", FolderRole::kPlain);
}

TEST(NameClues, NumberPattern) {
  EXPECT_EQ(NumberPattern("node01"), NumberPattern("node2"));
  EXPECT_EQ(NumberPattern("a1b22c"), "a#b#c");
  EXPECT_NE(NumberPattern("node01"), NumberPattern("node"));
  EXPECT_EQ(NumberPattern(""), "");
}

TEST(NameClues, Hosts) {
  for (std::string_view name :
       {"node0", "node-07", "gpu-node-5", "ip-10-0-3-7", "10.0.0.3", "hostA",
        "gpu-a100-07.cluster.local", "algo-1", "n12", "worker_3", "h0", "node0.tar.gz!tmp"})
    EXPECT_TRUE(IsNamedAsHost(name)) << name;
  for (std::string_view name : {"run_1", "exp7", "logs", "node", "a", "", "2026.11.15", "nodes_of",
                                "version_0", "fr", "attempt_0"})
    EXPECT_FALSE(IsNamedAsHost(name)) << name;
}

}  // namespace name_clues_test
}  // namespace debrief
