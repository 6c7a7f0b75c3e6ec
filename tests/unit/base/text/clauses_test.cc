#include "base/text/clauses.h"

#include <gtest/gtest.h>

namespace debrief {
namespace clauses_test {

TEST(Clauses, AWordIsNeverHalved) {
  EXPECT_EQ(CutAtWord("a rank that waits", 17), "a rank that waits");
  EXPECT_EQ(CutAtWord("a rank that waits for another", 17), "a rank that...");
  EXPECT_EQ(CutAtWord("one_word_that_is_longer_than_all", 12), "one_word_...") << "but a name";
}

TEST(Clauses, TheLastClausesGoFirst) {
  EXPECT_EQ(CutAtClause("rank 3 died; ranks 0-2 waited in all_reduce", 24), "rank 3 died");
  EXPECT_EQ(CutAtClause("rank 3 called [4, 4] where rank 1 called [8]", 30),
            "rank 3 called [4, 4]");
  EXPECT_EQ(CutAtClause("rank 3 skipped 2 calls, the first: all_reduce", 36),
            "rank 3 skipped 2 calls");
  EXPECT_EQ(CutAtClause("rank 3 waits, or dies (of ranks 1, 2 and 5)", 38), "rank 3 waits, or dies")
      << "brackets are not halved";
}

TEST(Clauses, LinesEndWithAClauseOrAWord) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(WrapAtMost("one two three", 9, 2), (Lines{"one two", "three"}));
  EXPECT_EQ(WrapAtMost("rank 3 died; the others wait", 14, 1), (Lines{"rank 3 died"}));
  EXPECT_EQ(WrapAtMost("one two three four five six", 9, 2), (Lines{"one two", "three..."}));
  EXPECT_EQ(WrapAtMost("one two, three four five; and six of them", 20, 2).back(),
            "five; and six of...");
}

}  // namespace clauses_test
}  // namespace debrief
