// The island of the report's view of lost time.
#include <gtest/gtest.h>

#include "outputs/report/html/table_islands.h"
#include "tables/cost_fix.h"

namespace debrief::outputs::html {
namespace cost_data_test {

TEST(CostData, NothingForNothing) {
  Model model;
  EXPECT_EQ(TablesJson(model, "cost"), "");
}

TEST(CostData, TheCostliestComeFirst) {
  Model model;
  for (int64_t lost : {5, 9, 7}) {
    CostFixRow row;
    row.job = 0;
    row.attempt = 0;
    row.lost_ns = lost;
    row.text = model.pools.Intern("<b>");
    model.tables.Edit<CostFixTable>().Add(row);
  }
  const std::string json = TablesJson(model, "cost");
  EXPECT_NE(json.find(R"("cost_fix":{"total":3)"), std::string_view::npos) << json;
  EXPECT_LT(json.find(R"("lost_ns":9)"), json.find(R"("lost_ns":7)"));
  EXPECT_LT(json.find(R"("lost_ns":7)"), json.find(R"("lost_ns":5)"));
}

}  // namespace cost_data_test
}  // namespace debrief::outputs::html
