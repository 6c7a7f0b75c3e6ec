#include <gtest/gtest.h>

#include <string>

#include "outputs/report/html/table_islands.h"
#include "tables/profile_kernel.h"
#include "tables/profile_step.h"
#include "unit/outputs/text_helpers.h"

namespace debrief::outputs::html {

namespace profile_data_test {

using testing::CountOf;

void AddKernel(Model& model, std::string_view definition, std::string_view name, int64_t total_ns) {
  ProfileKernelRow row;
  row.rank = 0;
  row.definition = model.pools.Intern(definition);
  row.name = model.pools.Intern(name);
  row.total_ns = total_ns;
  model.tables.Edit<ProfileKernelTable>().Add(row);
}

TEST(ProfileData, EmptyWithoutProfiles) {
  Model model;
  EXPECT_EQ(TablesJson(model, "profile"), "");
}

TEST(ProfileData, OnlyTheOwnDefinitionAndTheLongestFirst) {
  Model model;
  AddKernel(model, "hta", "rounded", 900);
  AddKernel(model, "debrief", "short", 10);
  AddKernel(model, "debrief", "long", 500);
  const std::string json = TablesJson(model, "profile");
  EXPECT_NE(json.find("\"profile_kernel\":{\"total\":2,"), std::string::npos) << json;
  EXPECT_EQ(json.find("rounded"), std::string::npos);
  EXPECT_LT(json.find("\"long\""), json.find("\"short\""));
}

TEST(ProfileData, TellsWhatColumnsMean) {
  Model model;
  AddKernel(model, "debrief", "gemm", 10);
  const std::string json = TablesJson(model, "profile");
  EXPECT_NE(json.find("\"total_ns\":\"sum of their durations\""), std::string::npos) << json;
  EXPECT_EQ(json.find("\"profile_op\""), std::string::npos);
  constexpr Share kPlain[] = {{"profile_kernel", 10, 1000}};
  EXPECT_EQ(TablesJson(model, TableIsland{"plain", kPlain}).find("meanings"), std::string::npos);
}

TEST(ProfileData, ATableWithoutDefinitionsIsWhole) {
  Model model;
  for (int i = 0; i < 3; ++i) {
    ProfileStepRow row;
    row.step = i;
    model.tables.Edit<ProfileStepTable>().Add(row);
  }
  constexpr Share kSteps[] = {{"profile_step", 2, 10'000, "", "debrief"}};
  const std::string json = TablesJson(model, TableIsland{"steps", kSteps});
  EXPECT_NE(json.find("\"total\":3"), std::string::npos) << json;
  EXPECT_EQ(CountOf(json, "\"step\":"), 2u);
}

}  // namespace profile_data_test

}  // namespace debrief::outputs::html
