#include <gtest/gtest.h>

#include <string>

#include "outputs/report/html/islands.h"
#include "outputs/report/html/table_islands.h"
#include "tables/compile_life.h"
#include "tables/compile_shape.h"
#include "tables/compile_span.h"
#include "unit/outputs/text_helpers.h"

namespace debrief::outputs::html {

namespace compile_data_test {

using testing::CountOf;

void AddShape(Model& model, std::string_view symbol, int32_t rank = 0) {
  CompileShapeRow row;
  row.rank = rank;
  row.kind = model.pools.Intern("create_symbol");
  row.symbol = model.pools.Intern(symbol);
  model.tables.Edit<CompileShapeTable>().Add(row);
}

TEST(CompileData, NullWithoutCompileLogs) {
  Model model;
  EXPECT_EQ(TablesJson(model, "compile"), "");
  model.tables.Edit<CompileLifeTable>();  // made, and without a row
  EXPECT_EQ(TablesJson(model, "compile"), "");
}

TEST(CompileData, RowsAreObjectsWithoutNulls) {
  Model model;
  AddShape(model, "s0", 3);
  const std::string json = TablesJson(model, "compile");
  EXPECT_NE(json.find("\"compile_shape\":{\"total\":1,\"rows\":[{"), std::string::npos) << json;
  EXPECT_NE(json.find("\"rank\":3"), std::string::npos) << json;
  EXPECT_NE(json.find("\"symbol\":\"s0\""), std::string::npos) << json;
  EXPECT_EQ(json.find("null"), std::string::npos) << json;
  EXPECT_EQ(json.find("compile_life"), std::string::npos) << json;
}

TEST(CompileData, HostileTextCannotEndTheElement) {
  Model model;
  AddShape(model, "</script><script>bad()</script><!-- {{title}}{{data}}");
  const std::string json = TablesJson(model, "compile");
  EXPECT_EQ(json.find('<'), std::string::npos);
  Islands islands("");
  ASSERT_TRUE(AddIslands(model, 1, islands).ok());
  const std::string page = MakePage(model, islands);
  EXPECT_EQ(CountOf(page, "data-island=\"compile\""), 1u);
  EXPECT_EQ(CountOf(page, "bad()"), 0u);  // packed
}

TEST(CompileData, RowsOfATableAreBounded) {
  Model model;
  for (int i = 0; i < 3000; ++i) AddShape(model, "s0");
  const std::string json = TablesJson(model, "compile");
  EXPECT_NE(json.find("\"total\":3000"), std::string::npos);
  EXPECT_EQ(CountOf(json, "\"symbol\""), 2000u);
}

TEST(CompileData, BytesOfATableAreBounded) {
  Model model;
  for (int i = 0; i < 1000; ++i) AddShape(model, std::string(5000, 'x') + std::to_string(i));
  const std::string json = TablesJson(model, "compile");
  EXPECT_NE(json.find("\"total\":1000"), std::string::npos);
  EXPECT_LT(json.size(), 310'000u);
  EXPECT_GT(CountOf(json, "\"symbol\""), 40u);
}

TEST(CompileData, OneHugeRowCostsOnlyItself) {
  Model model;
  AddShape(model, std::string(5'000'000, 'x'));
  AddShape(model, "small");
  const std::string json = TablesJson(model, "compile");
  EXPECT_LT(json.size(), 1000u);
  EXPECT_NE(json.find("\"total\":2"), std::string::npos);
  EXPECT_NE(json.find("small"), std::string::npos);
}

TEST(CompileData, ManyHugeRowsEndTheTable) {
  Model model;
  for (int i = 0; i < 300; ++i) AddShape(model, std::string(400'000, 'x') + std::to_string(i));
  AddShape(model, "small");
  const std::string json = TablesJson(model, "compile");
  EXPECT_NE(json.find("\"rows\":[]"), std::string::npos) << json.substr(0, 200);
}

TEST(CompileData, SlowCompilationsAreNotLeftOut) {
  Model model;
  for (int i = 0; i < 6000; ++i) {
    CompileSpanRow row;
    row.compile_id = model.pools.Intern(std::to_string(i) + "/0");
    if (i % 2 == 0) row.seconds = i == 5998 ? 100 : 1;
    model.tables.Edit<CompileSpanTable>().Add(row);
  }
  const std::string json = TablesJson(model, "compile");
  const std::string first = "\"compile_span\":{\"total\":6000,\"rows\":[{\"compile_id\":\"5998/0\"";
  EXPECT_NE(json.find(first), std::string::npos) << json.substr(0, 200);
  EXPECT_EQ(CountOf(json, "\"seconds\":1,"), 2999u);  // equals in their order, nulls last
  EXPECT_LT(json.find("\"0/0\""), json.find("\"2/0\""));
  EXPECT_LT(json.find("\"5996/0\""), json.find("\"1/0\""));
}

}  // namespace compile_data_test

}  // namespace debrief::outputs::html
