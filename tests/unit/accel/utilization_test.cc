#include "accel/side_files/categories.h"
#include "accel/stages/utilisation.h"
#include "unit/accel/accel_fixture.h"

namespace debrief::accel {
namespace utilization_test {

constexpr std::string_view kPrefillAndDecode =
    "PREFILL\n~~~~ Ideal/Total Cycles ~~~~\na-opCatBmm 80\nb-opCatAdd 0\nTotal 80\n"
    "====== Perf Summary End ======\n"
    "DECODING\n~~~~ Ideal/Total Cycles ~~~~\na-opCatBmm 8\nb-opCatAdd 0\nTotal 8\n"
    "====== Perf Summary End ======\n";

class UtilizationTest : public AccelTest {
 protected:
  void Load(std::string_view log) {
    options_.core_mhz = 1;
    auto& state = run_.Shared<Utilization>();
    state.loaded = true;
    state.info.logs.push_back(ParseCompilerLog(log, LogRules::kRight));
    state.info.paths.push_back("log_" + std::to_string(state.info.logs.size()));
  }

  const CategoryUse* Use(std::string_view phase, std::string_view category) {
    for (const TableUse& use : run_.Shared<Utilization>().uses) {
      if (use.table->phase != phase) continue;
      for (const CategoryUse& entry : use.categories) {
        if (entry.category == category) return &entry;
      }
    }
    return nullptr;
  }
};

TEST_F(UtilizationTest, EachIterationFindsItsTable) {
  Load(kPrefillAndDecode);
  DeviceSlice("a Cmpt Exec", 0, 100);  // prefill
  DeviceSlice("b Cmpt Exec", 100, 10);
  for (int i = 0; i < 4; ++i) {  // decode
    DeviceSlice("a Cmpt Exec", 200 + 50 * i, 16);
    DeviceSlice("b Cmpt Exec", 220 + 50 * i, 10);
  }
  ComputeUtilization(events_, run_);
  EXPECT_EQ(Use("TTFT", "Bmm")->calls, 1);
  EXPECT_EQ(Use("ITL", "Bmm")->calls, 4);
  EXPECT_EQ(Use("ITL", "Bmm")->ideal, 32);
  EXPECT_EQ(Use("ITL", "Total")->time, 4 * 26);
  EXPECT_EQ(Use("ITL", "Total")->cycles, 4 * 26);
  const std::vector<Event> counters = Named("PT Active");
  ASSERT_EQ(counters.size(), 10u);
  EXPECT_EQ(counters[0].Find(key::kPercent)->number, 80);
  EXPECT_EQ(counters[2].Find(key::kPercent)->number, 50);
}

TEST_F(UtilizationTest, UnknownKernelsAreOther) {
  Load(kPrefillAndDecode);
  DeviceSlice("stranger Cmpt Exec", 0, 100);
  ComputeUtilization(events_, run_);
  EXPECT_EQ(Use("TTFT", "other")->time, 100);
  EXPECT_TRUE(console_.Has("without a matching kernel category"));
}

std::string LogOfKernel(std::string_view kernel, int cycles) {
  return "~~~~ Ideal/Total Cycles ~~~~\n" + std::string(kernel) + "-opCatBmm " +
         std::to_string(cycles) + "\nTotal 1\n====== Perf Summary End ======\n";
}

TEST_F(UtilizationTest, TheFirstLogIsThatOfTheLowestRankWithKernels) {
  Load(LogOfKernel("a", 10));
  Load(LogOfKernel("a", 20));
  for (const int64_t rank : {9, 4}) DeviceSlice("a Cmpt Exec", 0, 100, rank);
  ComputeUtilization(events_, run_);
  EXPECT_TRUE(console_.Has("rank 4: log_1, rank 9: log_2"));
  for (const TableUse& use : run_.Shared<Utilization>().uses)
    EXPECT_EQ(use.categories.back().ideal, use.pid.integer == 4 ? 10 : 20);
}

TEST_F(UtilizationTest, ALogTooManyOrTooFewIsTold) {
  for (int i = 0; i < 3; ++i) Load(LogOfKernel("a", 10));
  for (const int64_t rank : {9, 4}) DeviceSlice("a Cmpt Exec", 0, 100, rank);
  ComputeUtilization(events_, run_);
  EXPECT_TRUE(console_.Has("3 logs behind -c and 2 ranks with kernels; log_3 is not used"));
}

TEST_F(UtilizationTest, ALogOfOtherKernelsIsNamed) {
  Load(LogOfKernel("stranger", 10));
  DeviceSlice("a Cmpt Exec", 0, 100);
  ComputeUtilization(events_, run_);
  EXPECT_TRUE(console_.Has("log_1 names none of the 1 kernels that ran (for example a)"));
}

TEST_F(UtilizationTest, AutopilotCountsATotalOnceARound) {
  std::string log =
      "DSM-AutoPilot BEGIN\n~~~~ Ideal/Total Cycles ~~~~\na-opCatBmm 10\nTotal 10\n"
      "====== Perf Summary End ======\n";
  Load(log);
  for (int i = 0; i < 3; ++i) DeviceSlice("a Cmpt Exec", 100 * i, 40);
  ComputeUtilization(events_, run_);
  EXPECT_EQ(Use("UNKN", "Total")->time, 120);
  EXPECT_EQ(Use("UNKN", "Total")->ideal, 30);
  EXPECT_EQ(Use("UNKN", "Total")->calls, 3);
  const std::vector<Event> counters = Named("PT Active");
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[0].Find(key::kPercent)->number, 25);
}

TEST(Shares, AreThoseOfAllRanksTogether) {
  const CategoryShares shares = ParseShares(
      "Pid,Phase,Category,Kernel_Time,Calls,Ideal_Time\n0,X,Bmm,30,3,10\n0,X,Add,10,1,0\n"
      "0,X,Total,40,4,10\n1,X,Bmm,60,4,20\n1,X,Total,60,4,20\nall,X,Bmm,90,7,30\n");
  ASSERT_EQ(shares.rows.size(), 2u);
  EXPECT_EQ(shares.rows[0].category, "Add");
  EXPECT_DOUBLE_EQ(shares.rows[1].time, 0.9);
  EXPECT_DOUBLE_EQ(shares.rows[1].ideal, 1);
  EXPECT_DOUBLE_EQ(shares.rows[1].calls, 7.0 / 8);
}

TEST(Shares, OfSomethingElseThereAreNone) {
  EXPECT_TRUE(ParseShares("{\"traceEvents\": []}\n").rows.empty());
  EXPECT_TRUE(ParseShares("").rows.empty());
}

}  // namespace utilization_test
}  // namespace debrief::accel
