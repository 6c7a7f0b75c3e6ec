// The name that an error message suggests.
#include "base/text/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace debrief {
namespace {

const std::vector<std::string> kCommands = {"flight", "compile", "profile", "ops", "diff"};

TEST(Nearest, FindsSlipsOfTheFinger) {
  EXPECT_EQ(NearestName("flihgt", kCommands), "flight");  // neighbours exchanged
  EXPECT_EQ(NearestName("flght", kCommands), "flight");
  EXPECT_EQ(NearestName("profilee", kCommands), "profile");
  EXPECT_EQ(NearestName("Compile", kCommands), "compile");
  EXPECT_EQ(NearestName("dff", kCommands), "diff");
}

TEST(Nearest, SuggestsNothingFarAway) {
  EXPECT_EQ(NearestName("nosuch", kCommands), "");
  EXPECT_EQ(NearestName("", kCommands), "");
  EXPECT_EQ(NearestName(std::string(200, 'x'), kCommands), "");
  EXPECT_EQ(NearestName("flight", {}), "");
}

TEST(Nearest, OfEqualsTheFirst) {
  const std::vector<std::string> names = {"rank_1.log", "rank_2.log"};
  EXPECT_EQ(NearestName("rank_3.log", names), "rank_1.log");
}

}  // namespace
}  // namespace debrief
