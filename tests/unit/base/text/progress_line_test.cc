#include "base/text/progress_line.h"

#include <gtest/gtest.h>

namespace debrief {
namespace progress_line_test {

constexpr int64_t kSecond = 1'000'000'000;

ProgressState Import(uint64_t done, int64_t elapsed_ns) {
  return {.stage = "import",
          .unit = ProgressUnit::kBytes,
          .done = done,
          .total = 4'500'000'000,
          .elapsed_ns = elapsed_ns};
}

TEST(ProgressLine, BytesWithRateAndTimeLeft) {
  EXPECT_EQ(ProgressLine(Import(1'500'000'000, 5 * kSecond), 100),
            "import   [########................]  1.5 of 4.5 GB  300 MB/s  11 s left");
  EXPECT_EQ(ProgressLine(Import(1'500'000'000, 500 * kSecond), 100),
            "import   [########................]  1.5 of 4.5 GB  3.0 MB/s  16 min 41 s left");
}

TEST(ProgressLine, NoRateBeforeItMeansSomething) {
  EXPECT_EQ(ProgressLine(Import(450'000'000, kSecond / 10), 100),
            "import   [##......................]  0.5 of 4.5 GB");
  EXPECT_EQ(ProgressLine(Import(0, 9 * kSecond), 100),
            "import   [........................]  0.0 of 4.5 GB");
}

TEST(ProgressLine, Steps) {
  ProgressState steps{.stage = "analyse", .done = 18, .total = 36, .elapsed_ns = 2 * kSecond};
  EXPECT_EQ(ProgressLine(steps, 80), "analyse  [############............]  18 of 36  3 s left");
  steps.done = 36;
  EXPECT_EQ(ProgressLine(steps, 80), "analyse  [########################]  36 of 36");
  steps.total = 0;
  EXPECT_EQ(ProgressLine(steps, 80), "analyse   36");
}

TEST(ProgressLine, MoreDoneThanExpectedStaysInTheBar) {
  ProgressState steps{.stage = "write", .done = 9, .total = 3};
  EXPECT_EQ(ProgressLine(steps, 80), "write    [########################]  9 of 3");
}

TEST(ProgressLine, FitsEveryWidth) {
  for (int width = 0; width < 100; ++width) {
    std::string line = ProgressLine(Import(1'500'000'000, 5 * kSecond), width);
    EXPECT_LE(line.size(), static_cast<size_t>(width));
    if (width >= 24) {
      EXPECT_NE(line.find("1.5 of 4.5 GB"), std::string::npos) << width;
    }
  }
}

}  // namespace progress_line_test
}  // namespace debrief
