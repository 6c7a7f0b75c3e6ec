#include "base/text/rank_list.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace debrief {
namespace rank_list_test {

using Ranks = std::vector<int32_t>;

TEST(RankList, Folding) {
  EXPECT_EQ(FoldNumbers(Ranks{}), "");
  EXPECT_EQ(FoldNumbers(Ranks{7}), "7");
  EXPECT_EQ(FoldNumbers(Ranks{0, 1, 2, 3, 7, 12, 13}), "0-3, 7, 12-13");
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(FoldNumbers(Ranks{kMost - 1, kMost}), "2147483646-2147483647");
}

TEST(RankList, InWords) {
  EXPECT_EQ(RanksInWords(Ranks{5}), "rank 5");
  EXPECT_EQ(RanksInWords(Ranks{0, 1, 2, 3, 7}), "ranks 0-3 and 7");
  EXPECT_EQ(RanksInWords(Ranks{0, 2, 4}), "ranks 0, 2 and 4");
  EXPECT_EQ(RanksAsSubject(Ranks{5}), "Rank 5");
  EXPECT_EQ(RanksAsSubject(Ranks{5, 6}), "Ranks 5-6");
}

TEST(RankList, EqualDistances) {
  EXPECT_EQ(FoldNumbers(Ranks{0, 8, 16, 24, 32}), "0-32 step 8");
  EXPECT_EQ(FoldNumbers(Ranks{0, 8, 16, 24}), "0, 8, 16, 24");
  EXPECT_EQ(FoldNumbers(Ranks{0, 1, 2, 10, 20, 30, 40, 50, 51}), "0-2, 10-50 step 10, 51");
  EXPECT_EQ(RanksInWords(Ranks{1, 3, 5, 7, 9, 12}), "ranks 1-9 step 2 and 12");
  EXPECT_EQ(FoldNumbers(Ranks{4, 4, 4, 4, 4, 4}), "4, 4, 4, 4, 4, 4");
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(FoldNumbers(Ranks{kLeast, 5}), "-2147483648, 5");
}

TEST(RankList, ManyPieces) {
  Ranks squares;
  for (int32_t i = 0; i < 12; ++i) squares.push_back(i * i);
  EXPECT_EQ(RanksInWords(squares), "ranks 0-1, 4, 9, 16, 25, 36, 49, 64, 81, 100 and 121");
  for (int32_t i = 12; i < 20; ++i) squares.push_back(i * i);
  EXPECT_EQ(RanksInWords(squares),
            "ranks 0-1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144 and 7 more");
}

}  // namespace rank_list_test
}  // namespace debrief
