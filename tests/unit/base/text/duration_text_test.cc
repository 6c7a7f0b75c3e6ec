#include <gtest/gtest.h>

#include "base/text/units.h"

namespace debrief {
namespace duration_text_test {

TEST(DurationText, ThreeDigitsThatCount) {
  EXPECT_EQ(DurationText(0), "0 ns");
  EXPECT_EQ(DurationText(850), "850 ns");
  EXPECT_EQ(DurationText(1000), "1.00 us");
  EXPECT_EQ(DurationText(12'500), "12.5 us");
  EXPECT_EQ(DurationText(412'000'000), "412 ms");
  EXPECT_EQ(DurationText(999'960), "1.00 ms") << "never 1000 us";
  EXPECT_EQ(DurationText(1'300'000'000), "1.30 s");
  EXPECT_EQ(DurationText(4'000'000'000'000), "4000 s");
  EXPECT_EQ(DurationText(-12'500), "-12.5 us");
}

}  // namespace duration_text_test
}  // namespace debrief
