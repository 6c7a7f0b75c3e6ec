// Sets of time, by hand and against sets of single nanoseconds.
#include "base/stats/intervals.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace debrief {
namespace intervals_test {

using Points = std::set<int64_t>;

Points PointsOf(const std::vector<Interval>& intervals) {
  Points points;
  for (const Interval& each : intervals) {
    for (int64_t at = each.begin; at < each.end; ++at) points.insert(at);
  }
  return points;
}

// Sorted, disjoint, none empty, none touching.
void ExpectSet(const IntervalSet& set) {
  for (size_t i = 0; i < set.size(); ++i) {
    EXPECT_LT(set[i].begin, set[i].end);
    if (i > 0) {
      EXPECT_GT(set[i].begin, set[i - 1].end);
    }
  }
}

std::vector<Interval> RandomIntervals(std::mt19937& random) {
  std::uniform_int_distribution<int64_t> begins(-20, 40), lengths(-3, 9);
  std::vector<Interval> intervals(random() % 12);
  for (Interval& each : intervals) {
    each.begin = begins(random);
    each.end = each.begin + lengths(random);
  }
  return intervals;
}

TEST(Intervals, TouchingOnesMergeAndEmptyOnesVanish) {
  EXPECT_EQ(Union({{5, 7}, {0, 2}, {2, 3}, {9, 9}, {12, 10}}), (IntervalSet{{0, 3}, {5, 7}}));
  EXPECT_TRUE(Union(std::vector<Interval>{}).empty());
}

TEST(Intervals, AnIntervalInsideOfAnotherAddsNothing) {
  EXPECT_EQ(Union({{0, 10}, {2, 3}, {4, 12}}), (IntervalSet{{0, 12}}));
}

TEST(Intervals, WhatIsCutOutLeavesTheRest) {
  EXPECT_EQ(Subtract({{0, 10}, {20, 30}}, {{0, 2}, {4, 5}, {8, 22}, {29, 40}}),
            (IntervalSet{{2, 4}, {5, 8}, {22, 29}}));
  EXPECT_TRUE(Subtract({{3, 4}}, {{0, 9}}).empty());
}

TEST(Intervals, OneHoleMayCutSeveral) {
  EXPECT_EQ(Subtract({{0, 4}, {6, 8}, {10, 14}}, {{2, 12}}), (IntervalSet{{0, 2}, {12, 14}}));
}

TEST(Intervals, ClippedToAWindow) {
  EXPECT_EQ(Clip({{0, 4}, {6, 8}, {10, 14}}, {3, 11}), (IntervalSet{{3, 4}, {6, 8}, {10, 11}}));
  EXPECT_TRUE(Clip({{0, 4}}, {4, 9}).empty());
  EXPECT_TRUE(Clip({}, {0, 9}).empty());
}

TEST(Intervals, AgreeWithSetsOfPoints) {
  std::mt19937 random(17);
  for (int round = 0; round < 3000; ++round) {
    auto left = RandomIntervals(random), right = RandomIntervals(random);
    Points in_left = PointsOf(left), in_right = PointsOf(right), both, rest, any = in_left;
    for (int64_t at : in_left) (in_right.contains(at) ? both : rest).insert(at);
    any.insert(in_right.begin(), in_right.end());
    IntervalSet a = Union(left), b = Union(right);
    for (const IntervalSet& set :
         {a, b, Union(a, b), Intersect(a, b), Subtract(a, b), Clip(a, {-5, 12})})
      ExpectSet(set);
    ASSERT_EQ(PointsOf(a), in_left);
    ASSERT_EQ(PointsOf(Union(a, b)), any);
    ASSERT_EQ(PointsOf(Intersect(a, b)), both);
    ASSERT_EQ(PointsOf(Subtract(a, b)), rest);
    ASSERT_EQ(Length(a), Length(Intersect(a, b)) + Length(Subtract(a, b)));
    ASSERT_EQ(PointsOf(Clip(a, {-5, 12})), PointsOf(Intersect(a, {{-5, 12}})));
  }
}

}  // namespace intervals_test
}  // namespace debrief
