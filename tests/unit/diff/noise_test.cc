#include "base/stats/noise.h"

#include <gtest/gtest.h>

namespace debrief::diff {
namespace noise_test {

TEST(DiffNoise, SeriesThatScatterAlikeHaveNotChanged) {
  const Change change = ChangeOf({131, 134, 125}, {152, 128, 129});
  EXPECT_EQ(change.a, 130);
  EXPECT_EQ(change.b, 136);
  EXPECT_GT(change.noise, 6);
  EXPECT_FALSE(change.is_real);
}

TEST(DiffNoise, AClearShiftIsReal) {
  const Change change = ChangeOf({37, 36, 38}, {549, 551, 550});
  EXPECT_EQ(change.difference(), 513);
  EXPECT_TRUE(change.is_real);
  EXPECT_TRUE(ChangeOf({549, 551, 550}, {37, 36, 38}).is_real);
}

TEST(DiffNoise, OneOddSampleMovesTheMeanAndNotTheMedian) {
  EXPECT_FALSE(ChangeOf({100, 100, 100, 100, 100}, {100, 100, 100, 100, 900}).is_real);
}

TEST(DiffNoise, TwoSamplesTellNothing) {
  const Change change = ChangeOf({1, 1}, {900, 900, 900});
  EXPECT_EQ(change.noise, kNone64);
  EXPECT_FALSE(change.is_real);
}

TEST(DiffNoise, WhatIsBelowTheFloorDoesNotMatter) {
  EXPECT_TRUE(ChangeOf({100, 100, 100}, {102, 102, 102}).is_real);
  EXPECT_FALSE(ChangeOf({100, 100, 100}, {102, 102, 102}, 2).is_real);
}

TEST(DiffNoise, SinglesScatterByAShareOfTheFirst) {
  EXPECT_FALSE(ChangeOfSingles(1000, 1010, 1).is_real);
  EXPECT_TRUE(ChangeOfSingles(1000, 1011, 1).is_real);
  EXPECT_TRUE(ChangeOfSingles(1000, 900, 1).is_real);
  EXPECT_TRUE(ChangeOfSingles(0, 1, 1).is_real);
}

TEST(DiffNoise, MeansOfLargeNumbersDoNotOverflow) {
  EXPECT_EQ(Mean(std::vector<int64_t>(4, INT64_MAX)), INT64_MAX);
  EXPECT_EQ(Mean(std::vector<int64_t>{-1, -2}), -2);
  EXPECT_EQ(Mean({}), 0);
}

}  // namespace noise_test
}  // namespace debrief::diff
