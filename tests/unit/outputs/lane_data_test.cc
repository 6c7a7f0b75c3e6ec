#include <gtest/gtest.h>

#include <string>

#include "outputs/report/html/compile/compile_islands.h"
#include "tables/compile_phase.h"
#include "tables/compile_span.h"

namespace debrief::outputs::html {

namespace lane_data_test {

constexpr int64_t kStart = 1'794'714'812'000'000'000;

void AddPhase(Model& model, int32_t rank, std::string_view id, int32_t depth, int64_t start_us,
              int64_t us) {
  CompilePhaseRow row;
  row.job = 0;
  row.rank = rank;
  row.input = rank;
  row.life = 0;
  row.depth = depth;
  if (!id.empty()) row.compile_id = model.pools.Intern(id);
  row.name = model.pools.Intern("dynamo");
  row.start_ns = kStart + start_us * 1000;
  row.end_ns = row.start_ns + us * 1000;
  row.open = us == 0;
  model.tables.Edit<CompilePhaseTable>().Add(row);
}

void AddSpan(Model& model, std::string_view told_by, double seconds) {
  CompileSpanRow row;
  row.rank = 0;
  row.start_ns = kStart + 5'000'000;
  row.seconds = seconds;
  row.told_by = model.pools.Intern(told_by);
  row.compile_id = model.pools.Intern("7/0");
  row.ended = true;
  model.tables.Edit<CompileSpanTable>().Add(row);
}

TEST(LaneData, NothingWithoutCompilations) {
  Model model;
  EXPECT_EQ(LanesJson(model), "");
}

TEST(LaneData, OutermostPhasesInOrderOfTime) {
  Model model;
  AddPhase(model, 1, "0/0_1", 0, 3000, 500);
  AddPhase(model, 0, "0/0", 0, 1000, 0);
  AddPhase(model, 0, "0/0", 1, 1200, 100);  // inside of another
  AddPhase(model, 0, "", 0, 1300, 100);     // of no compilation
  EXPECT_EQ(LanesJson(model),
            "{\"base_ns\":1794714812001000000,\"job\":[0,0],\"input\":[0,1],\"rank\":[0,1],"
            "\"life\":[0,0],\"id\":[\"0/0\",\"0/0\"],\"phase\":[\"dynamo\",\"dynamo\"],"
            "\"start_us\":[0,2000],\"us\":[0,500],\"open\":[true,false],\"left_out\":0}");
}

TEST(LaneData, MetricsTellWherePhasesDoNot) {
  Model model;
  AddSpan(model, "metrics", 0.25);
  AddSpan(model, "events", 9);
  const std::string json = LanesJson(model);
  EXPECT_NE(json.find("\"id\":[\"7/0\"]"), std::string::npos) << json;
  EXPECT_NE(json.find("\"us\":[250000]"), std::string::npos) << json;
}

TEST(LaneData, TheLongestStay) {
  Model model;
  for (int i = 0; i < 40'001; ++i) AddPhase(model, 0, "0/0", 0, i, i == 20'000 ? 1 : 7);
  const std::string json = LanesJson(model);
  EXPECT_TRUE(json.ends_with("\"left_out\":1}"));
  EXPECT_EQ(json.find(",1,"), json.find(",1,2,"));  // begins follow each other, no length is 1
}

TEST(LaneData, TimesWithoutEndOrSenseDoNotOverflow) {
  Model model;
  AddSpan(model, "metrics", 1e300);
  AddSpan(model, "metrics", -4);
  EXPECT_NE(LanesJson(model).find("\"us\":[1000000000000000,0]"), std::string::npos);
}

}  // namespace lane_data_test

}  // namespace debrief::outputs::html
