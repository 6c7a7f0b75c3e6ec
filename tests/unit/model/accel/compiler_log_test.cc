#include "model/accel/compiler_log.h"

#include <gtest/gtest.h>

namespace debrief::accel {
namespace compiler_log_test {

constexpr std::string_view kTwoTables =
    "noise\n"
    "          PREFILL         \n"
    "~~~~ Ideal/Total Cycles ~~~~\n"
    "-----------\n"
    "Name        Ideal Cy.\n"
    "sub_1-opCatBroadcast    0\n"
    "bmm-BMM_1-opCatBmm_fp16   12288   \n"
    "bmm-BMM_1-opCatBmm_fp16   12288\n"
    "layernorm_1-NA   5\n"
    "foo-LxPreload-opCatStcdpLx   5\n"
    "x-Precompute-opCatY 5\n"
    "bare  7\n"
    "Total\t\t12305\n"
    "====== Perf Summary End ======\n"
    "DECODING\n"
    "~~~~ Ideal/Total Cycles ~~~~\n"
    "sub_1-opCatBroadcast    1\n"
    "Total     1\n"
    "====== Perf Summary End ======\n";

TEST(CompilerLog, TablesPhasesAndCategories) {
  const CompilerLog log = ParseCompilerLog(kTwoTables, LogRules::kRight);
  ASSERT_EQ(log.tables.size(), 2u);
  EXPECT_FALSE(log.autopilot);
  const IdealTable& prefill = log.tables[0];
  EXPECT_EQ(prefill.phase, "TTFT");
  EXPECT_EQ(log.tables[1].phase, "ITL");
  EXPECT_EQ(prefill.kernels.size(), 4u);
  EXPECT_EQ(prefill.sequence, (std::vector<uint32_t>{0, 1, 1, 2, 3}));
  EXPECT_EQ(prefill.Find("bmm-BMM_1")->cycles, 12288);
  EXPECT_EQ(prefill.Find("bmm-BMM_1")->category, "Bmm_fp16");
  EXPECT_EQ(prefill.Find("layernorm_1")->category, "NotAvailable");
  EXPECT_EQ(prefill.Find("bare")->category, "NotAvailable");
  EXPECT_EQ(prefill.Find("Total"), nullptr);
  EXPECT_EQ(prefill.total_cycles, 12305);
}

TEST(CompilerLog, TheReferenceTakesTotalsForKernelsAndDoesNotSeeTabs) {
  const CompilerLog log = ParseCompilerLog(kTwoTables, LogRules::kReference);
  ASSERT_EQ(log.tables.size(), 2u);
  EXPECT_EQ(log.tables[0].Find("Total"), nullptr);
  EXPECT_EQ(log.tables[0].Find("bare")->category, "Total");
  EXPECT_EQ(log.tables[1].Find("Total")->cycles, 1);
}

TEST(CompilerLog, ARepeatedKernelWithOtherCyclesIsTold) {
  const CompilerLog log = ParseCompilerLog(
      " Ideal/Total Cycles \na-opCatX 1\na-opCatX 2\n====== Perf Summary End ======\n",
      LogRules::kRight);
  ASSERT_EQ(log.tables.size(), 1u);
  EXPECT_EQ(log.tables[0].Find("a")->cycles, 1);
  EXPECT_EQ(log.warnings.size(), 1u);
  EXPECT_EQ(log.tables[0].total_cycles, 2);  // the first row, for both
}

TEST(CompilerLog, ACutOffTableIsKeptAndTold) {
  const CompilerLog log = ParseCompilerLog(" Ideal/Total Cycles \na-opCatX 1\n", LogRules::kRight);
  EXPECT_EQ(log.tables.size(), 1u);
  EXPECT_EQ(log.warnings.size(), 1u);
}

TEST(CompilerLog, AutopilotAndNumbersThatDoNotFit) {
  const CompilerLog log = ParseCompilerLog(
      "[x] DSM-AutoPilot BEGIN\n Ideal/Total Cycles \na-opCatX 99999999999999999999\nb-opCatX -1\n"
      "c-opCatX 1 2\n",
      LogRules::kRight);
  EXPECT_TRUE(log.autopilot);
  ASSERT_EQ(log.tables.size(), 1u);
  EXPECT_TRUE(log.tables[0].kernels.empty());
}

TEST(IdealCycles, EntriesOfAKernelAreSummed) {
  constexpr std::string_view kJson =
      R"([{"ideal_cycles": 0, "op_category":"Bmm"},{"ideal_cycles": 12288},{"ideal_cycles": 100}])";
  IdealTable right, reference;
  ASSERT_TRUE(AddIdealCycles("bmm", kJson, LogRules::kRight, right).ok());
  ASSERT_TRUE(AddIdealCycles("bmm", kJson, LogRules::kReference, reference).ok());
  EXPECT_EQ(right.Find("bmm")->cycles, 12388);
  EXPECT_EQ(right.total_cycles, 12388);
  EXPECT_EQ(right.Find("bmm")->category, "Bmm");
  EXPECT_EQ(reference.Find("bmm")->cycles, 12288);
  EXPECT_FALSE(AddIdealCycles("x", "{", LogRules::kRight, right).ok());
}

}  // namespace compiler_log_test
}  // namespace debrief::accel
