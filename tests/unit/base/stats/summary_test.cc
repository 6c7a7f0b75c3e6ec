#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/stats/statistics.h"

namespace debrief {
namespace summary_test {

TEST(Summary, OddAndEvenCounts) {
  std::vector<int64_t> odd = {9, 1, 5};
  Summary summary = Summarise(odd);
  EXPECT_EQ(summary.count, 3);
  EXPECT_EQ(summary.total, 15);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.max, 9);
  EXPECT_DOUBLE_EQ(summary.mean, 5);
  EXPECT_DOUBLE_EQ(summary.median, 5);
  EXPECT_DOUBLE_EQ(summary.stddev, 4);
  std::vector<int64_t> even = {4, 1, 3, 10};
  EXPECT_DOUBLE_EQ(Summarise(even).median, 3.5);
}

TEST(Summary, OneValueHasNoDeviationAndNoneHasNothing) {
  std::vector<int64_t> one = {7};
  EXPECT_DOUBLE_EQ(Summarise(one).median, 7);
  EXPECT_TRUE(std::isnan(Summarise(one).stddev));
  std::vector<int64_t> none;
  EXPECT_EQ(Summarise(none).count, 0);
  EXPECT_TRUE(std::isnan(Summarise(none).mean));
}

// Large values that lie close together: the sum of squares would lose them.
TEST(Summary, DeviationOfLargeValues) {
  std::vector<int64_t> values = {1'000'000'000'000'001, 1'000'000'000'000'003};
  EXPECT_NEAR(Summarise(values).stddev, std::sqrt(2.0), 1e-9);
}

}  // namespace summary_test
}  // namespace debrief
