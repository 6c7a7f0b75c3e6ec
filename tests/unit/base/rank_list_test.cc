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

TEST(RankList, ManyPieces) {
  Ranks even;
  for (int32_t i = 0; i < 24; i += 2) even.push_back(i);
  EXPECT_EQ(RanksInWords(even), "ranks 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20 and 22");
  even.push_back(24);
  even.push_back(25);
  EXPECT_EQ(RanksInWords(even), "ranks 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22 and 2 more");
}

}  // namespace rank_list_test
}  // namespace debrief
