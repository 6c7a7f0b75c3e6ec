// The analyses of recorded ops: how devices share the time, what is communication, how it ended.
#include <gtest/gtest.h>

#include "analyses/analysis.h"
#include "tables/op_balance.h"
#include "tables/op_communication.h"
#include "tables/op_device.h"
#include "tables/op_summary.h"
#include "tables/process_exit.h"
#include "tables/progress.h"
#include "tables/recorded_op.h"
#include "tables/recording.h"

namespace debrief {
namespace recorded_ops_test {

struct TestOp {
  std::string_view name;
  int64_t start_ns = 0, duration_ns = 0;
  int64_t self_ns = kNone64;
  int32_t rank = 0;
  std::string_view device = {};
  bool open = false;
  int64_t thread = 100;
};

void Add(Model& model, const TestOp& op) {
  RecordedOpRow row;
  row.job = row.attempt = 0;
  row.input = row.rank = op.rank;
  row.operation = model.pools.Intern(op.name);
  if (!op.device.empty()) row.device = model.pools.Intern(op.device);
  row.start_ns = op.start_ns;
  row.duration_ns = op.duration_ns;
  row.self_ns = op.self_ns;
  row.open = op.open;
  row.thread = op.thread;
  model.tables.Edit<RecordedOpTable>().Add(row);
}

void AddRecording(Model& model, int32_t rank, bool closed, int64_t dropped = 0) {
  RecordingRow row;
  row.job = row.attempt = 0;
  row.input = row.rank = rank;
  row.pid = 100;
  row.closed = closed;
  row.dropped = dropped;
  model.tables.Edit<RecordingTable>().Add(row);
}

AnalysisResult Analyse(std::string_view name, const Model& model) {
  AnalysisResult result;
  for (const Analysis* analysis : AllAnalyses()) {
    if (analysis->info.name != name) continue;
    EXPECT_TRUE(analysis->run(model, result).ok());
  }
  return result;
}

TEST(LoadBalanceAnalysis, DevicesOfTheSameNameOnTwoRanksAreTwo) {
  Model model;
  Add(model, {"a", 0, 300, kNone64, 0, "cuda:0"});
  Add(model, {"a", 100, 300, kNone64, 0, "cuda:0"});
  Add(model, {"a", 0, 200, kNone64, 1, "cuda:0"});
  Add(model, {"host", 0, 900, kNone64, 1});
  const AnalysisResult result = Analyse("load_balance", model);
  const auto& devices = result.part.tables.Get<OpDeviceTable>();
  EXPECT_EQ(devices.duration_ns, (std::vector<int64_t>{600, 200}));
  EXPECT_EQ(devices.busy_ns, (std::vector<int64_t>{400, 200}));
  const auto& balance = result.part.tables.Get<OpBalanceTable>();
  ASSERT_EQ(balance.size(), 1u);
  EXPECT_EQ(balance.ideal_ns[0], 400);
  EXPECT_DOUBLE_EQ(balance.imbalance[0], 0.5);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].headline,
            "cuda:0 of rank 0 has 50 % more recorded op time than the mean of 2 devices");
}

TEST(CommShareAnalysis, SharesOfOpTimeAndOfWallTime) {
  Model model;
  Add(model, {"step", 0, 1000, 400});
  Add(model, {"all_reduce", 100, 600});
  Add(model, {"commit", 1000, 200});
  Part sums = Analyse("op_summary", model).part;
  model.tables.Append(std::move(sums.tables), model.pools.Absorb(sums.pools));
  const AnalysisResult result = Analyse("comm_share", model);
  const auto& shares = result.part.tables.Get<OpCommunicationTable>();
  ASSERT_EQ(shares.size(), 1u);
  EXPECT_DOUBLE_EQ(shares.of_op_time[0], 0.5);
  EXPECT_DOUBLE_EQ(shares.of_wall_time[0], 0.5);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].headline,
            "50 % of the recorded op time is communication, most of it all_reduce");
}

TEST(OpSummaryAnalysis, SharesAreOfSelfTime) {
  Model model;
  Add(model, {"outer", 0, 1000, 250});
  Add(model, {"inner", 0, 750, 750});
  const AnalysisResult result = Analyse("op_summary", model);
  const auto& sums = result.part.tables.Get<OpSummaryTable>();
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_DOUBLE_EQ(sums.share[0], 0.75);
  EXPECT_EQ(sums.duration_ns[1], 1000);
  EXPECT_EQ(sums.p99_ns[1], 1000);
}

TEST(RecordingEndAnalysis, RanksThatDiedInTheSameOpAreOneFinding) {
  Model model;
  for (int32_t rank : {0, 1}) {
    Add(model, {"step", 0, 5'000'000'000, kNone64, rank, {}, true});
    Add(model, {"loader", 10, 5, kNone64, rank, {}, true, 101});
    Add(model, {"all_reduce", 1, 4'000'000'000, kNone64, rank, {}, true});
    AddRecording(model, rank, false);
  }
  const AnalysisResult result = Analyse("recording_end", model);
  ASSERT_EQ(result.findings.size(), 1u);
  const Finding& finding = result.findings[0];
  EXPECT_EQ(finding.rule, "recording_end.died_inside");
  EXPECT_EQ(finding.headline, "Ranks 0-1 died inside all_reduce, 4.00 s after it began");
  EXPECT_EQ(finding.ranks, (std::vector<int32_t>{0, 1}));
  ASSERT_EQ(finding.evidence.size(), 5u) << "every thread that had something open";
  EXPECT_EQ(finding.evidence[0].rows, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(finding.evidence.back().text, "it was in step > all_reduce");
}

TEST(RecordingEndAnalysis, ClosingInsideIsNoDeathAndDropsExplainMuch) {
  Model closed;
  Add(closed, {"step", 0, 50, kNone64, 0, {}, true});
  AddRecording(closed, 0, true);
  const AnalysisResult result = Analyse("recording_end", closed);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].rule, "recording_end.closed_inside");
  EXPECT_EQ(result.findings[0].severity, Severity::kInfo);

  Model dropped;
  Add(dropped, {"step", 0, 50, kNone64, 0, {}, true});
  AddRecording(dropped, 0, true, 7);
  EXPECT_TRUE(Analyse("recording_end", dropped).findings.empty());

  Model both;
  Add(both, {"step", 0, 50, kNone64, 0, {}, true});
  AddRecording(both, 0, false, 7);
  EXPECT_LT(Analyse("recording_end", both).findings.at(0).confidence, 0.5);
}

TEST(RecordingEndAnalysis, ACopyOfARunningProcessIsNoDeath) {
  Model by_program;
  Add(by_program, {"step", 0, 50, kNone64, 0, {}, true});
  AddRecording(by_program, 0, false);
  EXPECT_EQ(Analyse("recording_end", by_program).findings.size(), 1u);
  by_program.tables.Edit<RecordingTable>().copied[0] = 1;
  EXPECT_TRUE(Analyse("recording_end", by_program).findings.empty());

  Model by_hand;
  Add(by_hand, {"step", 0, 50, kNone64, 0, {}, true});
  AddRecording(by_hand, 0, false);
  by_hand.tables.Edit<RecordingTable>().end_ns[0] = 50;
  ProgressRow later;
  later.job = later.attempt = later.rank = 0;
  later.time_ns = 1'000'000'000;
  by_hand.tables.Edit<ProgressTable>().Add(later);
  EXPECT_EQ(Analyse("recording_end", by_hand).findings.size(), 1u)
      << "a moment later proves nothing";
  by_hand.tables.Edit<ProgressTable>().time_ns[0] = 60'000'000'000;
  EXPECT_TRUE(Analyse("recording_end", by_hand).findings.empty());

  Model ended_well;
  Add(ended_well, {"step", 0, 50, kNone64, 0, {}, true});
  AddRecording(ended_well, 0, false);
  ProcessExitRow exit;
  exit.job = exit.attempt = exit.rank = exit.exit_code = 0;
  ended_well.tables.Edit<ProcessExitTable>().Add(exit);
  EXPECT_TRUE(Analyse("recording_end", ended_well).findings.empty());
}

}  // namespace recorded_ops_test
}  // namespace debrief
