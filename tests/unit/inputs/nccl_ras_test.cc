// Answers of NCCL RAS as text and JSON, several in one file, with NCCL's missing comma.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "inputs/fr_trace_text/plain_table.h"
#include "tables/fr_trace_op.h"
#include "tables/ras_rank.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace nccl_ras_test {

std::string RasRows(const Part& part) {
  const auto& table = part.tables.Get<RasRankTable>();
  std::string text;
  for (size_t i = 0; i < table.size(); ++i) {
    text += fmt::format("{} {} x{} {} {}", table.snapshot[i],
                        table.rank[i] == kNone32 ? -1 : table.rank[i], table.ranks[i],
                        part.pools.Text(table.state[i]), part.pools.Text(table.text[i]));
    if (table.count[i] != kNone64)
      text += fmt::format("{} {}", part.pools.Text(table.op[i]), table.count[i]);
    text += ";";
  }
  return text;
}

constexpr std::string_view kRas =
    "NCCL version 2.28.9 compiled with CUDA 13.0\nJob summary\n===\n"
    "      1          8            1          8        8\nCommunicators... (0.1s)\n===\n"
    "    0         1         1         8         8         8   RUNNING  MISMATCH\n"
    "    1         1         1         4         4         4   RUNNING  MISMATCH\n"
    "Errors\n======\nWarnings\n========\n#0-0 (d3) MISMATCH\n"
    "  Communicator ranks have different AllReduce operation counts\n"
    "  7 ranks have launched up to operation 35\n"
    "  Rank 2 has launched up to operation 32 -- GPU 0 managed by process 456 on node ::1\n"
    "#1-0 (d4) MISMATCH\n  Communicator ranks have different status\n"
    "  Rank 1 has status FINALIZE -- GPU 0 managed by process 456 on node ::1\n";

TEST(NcclRas, RanksOfTheWholeJobAreKnownByTheirProcesses) {
  EXPECT_EQ(RasRows(testing::ImportBytes("nccl_ras", kRas, 7)),
            "0 -1 x7 counted AllReduce 35;0 2 x1 counted AllReduce 32;0 2 x1 status FINALIZE;");
}

TEST(NcclRas, SeveralAnswersInOneFile) {
  Part part = testing::ImportBytes("nccl_ras", std::string(kRas) + std::string(kRas), 100);
  const auto& table = part.tables.Get<RasRankTable>();
  ASSERT_EQ(table.size(), 6u);
  EXPECT_EQ(table.snapshot[5], 1);
}

TEST(NcclRas, ALineOfOneBlankIsNoBlock) {
  EXPECT_EQ(RasRows(testing::ImportBytes(
                "nccl_ras", "NCCL version 2 compiled with CUDA 13\nErrors\n \n#\n", 1)),
            "");
}

TEST(NcclRas, TheMonitorSaysWhoIsGone) {
  constexpr std::string_view kEvents =
      "[2026-11-15 23:20:09] PEER_NEW: Process 1 on node a managing GPU 0\n"
      "[2026-11-15 23:20:09] PEER_NEW: Process 2 on node b managing GPU 0\n"
      "[2026-11-15 23:22:09] PEER_UNRESPONSIVE: Process 2 on node b managing GPU 0\n"
      "[2026-11-15 23:22:19] PEER_DEAD: Process 2 on node b managing GPU 0\n";
  EXPECT_EQ(RasRows(testing::ImportBytes("nccl_ras", kEvents, 7)),
            "0 -1 x1 dead Process 2 on node b managing GPU 0;");
  // At the end of a job all are gone.
  std::string all = std::string(kEvents) + "[2026-11-15 23:22:19] PEER_DEAD: Process 1 on node a\n";
  EXPECT_EQ(RasRows(testing::ImportBytes("nccl_ras", all, 7)), "");
}

TEST(NcclRas, JsonWithoutAComma) {
  constexpr std::string_view kJson =
      R"({"nccl_version": "2.28.9", "communicators": [{"hash": "0xd3",
    "size": 2, "ranks": [{"rank": 0, "host": "a", "pid": 1, "cuda_dev": 0, "status": {"init_state": 0,
    "async_error": 6}, "collective_counts": {"AllReduce": 7}}],
    "missing_ranks": [{"rank": 1, "host": "b", "pid": 1, "cuda_dev": 0, "nvml_dev": 0
      "status": {"unresponsive": true, "considered_dead": false}}]}]})";
  EXPECT_EQ(RasRows(testing::ImportBytes("nccl_ras", kJson, 1)),
            "0 0 x1 error Remote process error;0 0 x1 status RUNNING;0 0 x1 counted AllReduce 7;"
            "0 1 x1 missing ;");
}

TEST(FrTraceText, CellsMayBeEmptyOrHaveBlanks) {
  std::vector<std::string> lines = {"  id  name    missing_ranks    note", "   0  a b     {1, 2}",
                                    "  11  c                        x y"};
  inputs::fr_trace_text::PlainTable table(lines);
  EXPECT_EQ(table.Cell(1, "id"), "0");
  EXPECT_EQ(table.Cell(1, "name"), "a b");
  EXPECT_EQ(table.Cell(1, "missing_ranks"), "{1, 2}");
  EXPECT_EQ(table.Cell(1, "note"), "");
  EXPECT_EQ(table.Cell(2, "missing_ranks"), "");
  EXPECT_EQ(table.Cell(2, "note"), "x y");
  EXPECT_EQ(table.Cell(2, "nothing"), "");
}

}  // namespace nccl_ras_test
}  // namespace debrief
