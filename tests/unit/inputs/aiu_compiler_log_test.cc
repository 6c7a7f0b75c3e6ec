// AIU compiler logs as text and as JSON, cut and broken.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tables/accel_ideal.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace aiu_compiler_log_test {

std::string Rows(const Part& part) {
  const auto& table = part.tables.Get<AccelIdealTable>();
  std::string text;
  for (size_t i = 0; i < table.size(); ++i)
    text += fmt::format("{} {} {} {} {}{};", table.number[i], part.pools.Text(table.phase[i]),
                        part.pools.Text(table.kernel[i]), part.pools.Text(table.category[i]),
                        table.cycles[i], table.autopilot[i] ? " autopilot" : "");
  return text;
}

constexpr std::string_view kLog =
    "[DeepRT] x\n   PREFILL  \n~~~~ Ideal/Total Cycles ~~~~\n"
    "bmm-BMM_1-opCatBmm_fp16   12288\nsub_1-opCatBroadcast 0\nTotal 12288\n"
    "====== Perf Summary End ======\n   DECODING\n~~~~ Ideal/Total Cycles ~~~~\n"
    "bmm-BMM_1-opCatBmm_fp16   768\nTotal 768\n====== Perf Summary End ======\n";

TEST(AiuCompilerLog, EveryTableHasItsPhaseAndItsSum) {
  Part part = testing::ImportBytes("aiu_compiler_log", kLog, 1 << 20);
  EXPECT_EQ(Rows(part),
            "0 TTFT bmm-BMM_1 Bmm_fp16 12288;0 TTFT sub_1 Broadcast 0;0 TTFT Total Total 12288;"
            "1 ITL bmm-BMM_1 Bmm_fp16 768;1 ITL Total Total 768;");
  EXPECT_EQ(testing::TroubleOf(part), "");
}

TEST(AiuCompilerLog, TheAutopilotHoldsForAllTables) {
  std::string log(kLog);
  log += "[DeepRT] ===== DSM-AutoPilot BEGIN =====\n";
  Part part = testing::ImportBytes("aiu_compiler_log", log, 7);
  EXPECT_EQ(Rows(part).find("12288;"), std::string::npos);
  EXPECT_NE(Rows(part).find("0 TTFT bmm-BMM_1 Bmm_fp16 12288 autopilot;"), std::string::npos);
}

TEST(AiuCompilerLog, ACutLogKeepsItsRows) {
  Part part = testing::ImportBytes("aiu_compiler_log", kLog.substr(0, kLog.find("Total 12288")), 1);
  EXPECT_EQ(Rows(part),
            "0 TTFT bmm-BMM_1 Bmm_fp16 12288;0 TTFT sub_1 Broadcast 0;0 TTFT Total Total 12288;");
  EXPECT_EQ(testing::TroubleOf(part), "aiu_compiler_log.odd 1;");
}

TEST(AiuCompilerLog, ALogWithoutTablesSaysSo) {
  Part part = testing::ImportBytes("aiu_compiler_log", "[DeepRT] nothing\n", 1);
  EXPECT_EQ(testing::TroubleOf(part), "aiu_compiler_log.no_table 1;");
}

TEST(AiuCompilerLog, AnEmptyFileHasNoRanges) {
  EXPECT_EQ(Rows(testing::ImportBytes("aiu_compiler_log", "", 1)), "");
}

TEST(AiuCompilerLog, JsonIsOneKernelAndBrokenJsonIsTold) {
  Part part = testing::ImportBytes(
      "aiu_compiler_log",
      R"([{"ideal_cycles": 10, "op_category": "Bmm"}, {"ideal_cycles": 5, "op_category": "X"}])",
      1);
  EXPECT_EQ(Rows(part), "0 UNKN ideal_cycles Bmm 15;");
  Part broken = testing::ImportBytes("aiu_compiler_log", R"([{"ideal_cycles": 10, "op_)", 1);
  EXPECT_EQ(testing::TroubleOf(broken), "aiu_compiler_log.bad_json 1;");
}

}  // namespace aiu_compiler_log_test
}  // namespace debrief
