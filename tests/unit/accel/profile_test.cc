#include "accel/profile.h"

#include <gtest/gtest.h>

#include "accel/pipeline.h"

namespace debrief::accel {
namespace profile_test {

std::vector<std::string_view> Master() {
  std::vector<std::string_view> names;
  for (const Pass& pass : AllPasses()) names.push_back(pass.identifier);
  return names;
}

std::vector<bool> Occurrences(const Profile& profile, std::string_view name) {
  std::vector<bool> found;
  const auto master = Master();
  for (size_t i = 0; i < master.size(); ++i) {
    if (master[i] == name) found.push_back(profile.IsOn(i));
  }
  return found;
}

TEST(AccelProfile, MasterListIsTheReferencesAndOneMore) {
  EXPECT_EQ(Master().size(), 59u + 1);  // traces of two runtimes on one clock
  const Profile all = Profile::BuiltIn("default.json", Master()).value();
  EXPECT_EQ(Occurrences(all, "pipeline_barrier"), std::vector<bool>(4, true));
  EXPECT_EQ(Occurrences(all, "sort_events"), std::vector<bool>(4, true));
}

TEST(AccelProfile, TorchMinimal) {
  const Profile minimal = Profile::BuiltIn("torch_minimal", Master()).value();
  EXPECT_EQ(Occurrences(minimal, "pipeline_barrier"), (std::vector{false, true, true, true}));
  EXPECT_EQ(Occurrences(minimal, "assert_ts_sequence"), (std::vector{false, true, true}));
  EXPECT_EQ(Occurrences(minimal, "cycle_count_to_wallclock"), std::vector{false});
}

TEST(AccelProfile, SparseNamesMeanAllOccurrences) {
  const auto parsed = Profile::Parse(
      R"({"stages": [{"normalize_phase1": true}, {"sort_events": true}, {"tb_refinement_lightweight": true}]})",
      Master());
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(Occurrences(parsed.value(), "sort_events"), std::vector<bool>(4, true));
  EXPECT_EQ(Occurrences(parsed.value(), "normalize_phase2"), std::vector{false});
  EXPECT_EQ(Occurrences(parsed.value(), "tb_refinement_lightweight"), std::vector{true});
}

TEST(AccelProfile, NumberedOccurrences) {
  const auto parsed = Profile::Parse(R"({"stages": [{"pipeline_barrier#2": true}]})", Master());
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(Occurrences(parsed.value(), "pipeline_barrier"),
            (std::vector{false, true, false, false}));
}

TEST(AccelProfile, AllOccurrencesListedArePositional) {
  const auto parsed = Profile::Parse(
      R"({"stages": [{"assert_ts_sequence": false}, {"assert_ts_sequence": true}, {"assert_ts_sequence": false}]})",
      Master());
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(Occurrences(parsed.value(), "assert_ts_sequence"), (std::vector{false, true, false}));
}

TEST(AccelProfile, RefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(Profile::Parse(R"({"stages": [{"nonexisting": true}]})", Master()).ok());
  EXPECT_FALSE(
      Profile::Parse(R"({"stages": [{"normalize_phase2": true}, {"normalize_phase1": true}]})",
                     Master())
          .ok());
  EXPECT_FALSE(Profile::Parse(R"({"stages": [{"a": true, "b": true}]})", Master()).ok());
  EXPECT_FALSE(Profile::Parse(R"({"other": 1})", Master()).ok());
  EXPECT_FALSE(Profile::Parse("no json", Master()).ok());
  EXPECT_FALSE(Profile::BuiltIn("nope.json", Master()).ok());
  EXPECT_TRUE(Profile::Parse("{}", Master()).value().IsOn(0));
}

}  // namespace profile_test
}  // namespace debrief::accel
