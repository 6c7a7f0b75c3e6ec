#include "accel/side_files/run_tables.h"

#include "unit/accel/accel_fixture.h"

namespace debrief::accel {
namespace run_tables_test {

TEST_F(AccelTest, TheFourPartsOfAStepAddUp) {
  // compute 0-60, communication 40-100, nothing to 120 where the next begins
  for (int i = 0; i < 3; ++i) {
    const double ts = 120.0 * i;
    DeviceSlice("a Cmpt Exec", ts, 60);
    SetText(DeviceSlice("x DmaO", ts + 40, 60), "CollGroup", "AllReduce_1");
  }
  CollectIterationStats(events_, run_);
  const std::vector<RankSteps> ranks = StepTimes(events_, run_);
  ASSERT_EQ(ranks.size(), 1u);
  ASSERT_EQ(ranks[0].steps.size(), 3u);
  const StepTime& step = ranks[0].steps[0];
  EXPECT_DOUBLE_EQ(step.elapsed, 120);
  EXPECT_DOUBLE_EQ(step.compute, 40);
  EXPECT_DOUBLE_EQ(step.overlap, 20);
  EXPECT_DOUBLE_EQ(step.communication, 40);
  EXPECT_DOUBLE_EQ(step.other, 20);
}

TEST_F(AccelTest, IterationsDoNotReachOverJobs) {
  const uint32_t second = AddJob("job_1.json", Dialect::kFlex);
  for (int i = 0; i < 3; ++i) DeviceSlice("a Cmpt Exec", 10.0 * i, 5);
  for (int i = 0; i < 3; ++i) DeviceSlice("a Cmpt Exec", 5000 + 10.0 * i, 5).job = second;
  CollectIterationStats(events_, run_);
  WriteRunTables(events_, run_);
  EXPECT_NE(
      SideText("out_iterations.csv").find("\n0,4,10.0,0.0,10.0,10.0,1,repeating kernels,yes\n"),
      std::string::npos)
      << SideText("out_iterations.csv");
}

TEST_F(AccelTest, ATableSaysWhyThereAreNoIterations) {
  DeviceSlice("a Cmpt Exec", 0, 5);
  DeviceSlice("b Cmpt Exec", 10, 5);
  CollectIterationStats(events_, run_);
  WriteRunTables(events_, run_);
  EXPECT_NE(SideText("out_iterations.csv").find("not detected: no kernel runs twice"),
            std::string::npos);
}

TEST_F(AccelTest, WhatRepeatsWithinNoTimeIsNoIteration) {
  for (int i = 0; i < 3; ++i) DeviceSlice("a Cmpt Exec", 10, 5);
  CollectIterationStats(events_, run_);
  WriteRunTables(events_, run_);
  const std::string text = SideText("out_iterations.csv");
  EXPECT_NE(text.find("not detected: 2 repetitions of 1 kernel begin at the same moment as the "
                      "first (3 kernels seen),no\n"),
            std::string::npos)
      << text;
}

TEST_F(AccelTest, OneIterationAtOneMomentIsLeftOut) {
  for (const double ts : {10.0, 10.0, 30.0, 50.0}) DeviceSlice("a Cmpt Exec", ts, 5);
  CollectIterationStats(events_, run_);
  WriteRunTables(events_, run_);
  const std::string text = SideText("out_iterations.csv");
  EXPECT_NE(
      text.find("\n0,2,20.0,0.0,20.0,20.0,1,repeating kernels (1 without time left out),yes\n"),
      std::string::npos)
      << text;
}

TEST_F(AccelTest, HostFunctionsAreThoseOfTheRuntime) {
  const uint32_t torch = AddJob("torch.json", Dialect::kTorch);
  Slice("Execute Graph", 0, 50);
  Slice("Execute Graph", 100, 100);
  DeviceSlice("a Cmpt Exec", 0, 5);
  Slice("aten::mm", 0, 70, 1, torch).cat = key::kCpuOp;
  Slice("cudaLaunchKernel", 0, 7, 1, torch).cat = run_.Intern("cuda_runtime");
  const std::vector<HostFunction> functions = HostFunctions(events_, run_);
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].name, "Execute Graph");
  EXPECT_EQ(functions[0].phase, "graph_exec");
  EXPECT_EQ(functions[0].calls, 2u);
  EXPECT_DOUBLE_EQ(functions[0].total, 150);
  EXPECT_DOUBLE_EQ(functions[0].share, 0.75);
  EXPECT_EQ(functions[1].name, "cudaLaunchKernel");
}

TEST_F(AccelTest, SummariesKnowKernelsOfTorch) {
  const uint32_t torch = AddJob("torch.json", Dialect::kTorch);
  Slice("void gemm<128, 64>(float*)", 0, 7, 0, torch).cat = key::kKernel;
  CalculateStats(events_, run_);
  EXPECT_NE(SideText("out_summary.csv").find("void gemm<128, 64>(float*)"), std::string::npos);
}

TEST_F(AccelTest, TransfersThatRunTogetherAddUp) {
  options_.counters.bandwidth = true;
  for (const double ts : {0.0, 5.0}) {
    Set(DeviceSlice("x DmaI", ts, 10), "bytes", Value::DecimalText(20'000));
  }
  ExtractDataTransferEvent(events_, run_);
  ComputeBandwidth(events_, run_);
  std::vector<double> rates;
  for (const Event& event : Named("BW DmaI")) rates.push_back(event.Find(key::kGBs)->number);
  EXPECT_EQ(rates, (std::vector<double>{2, 4, 2, 0}));
}

}  // namespace run_tables_test
}  // namespace debrief::accel
