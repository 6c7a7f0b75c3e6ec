// Headlines of at most 100 characters.
#include "model/headline.h"

#include <gtest/gtest.h>

namespace debrief {
namespace {

Finding Bounded(std::string headline) {
  Finding finding;
  finding.headline = std::move(headline);
  BoundHeadline(finding);
  return finding;
}

TEST(Headline, ShortOnesStay) {
  Finding finding = Bounded("Rank 5 is a straggler");
  EXPECT_EQ(finding.headline, "Rank 5 is a straggler");
  EXPECT_TRUE(finding.evidence.empty());
}

TEST(Headline, LastClausesBecomeEvidence) {
  const std::string whole =
      "Rank 5 skipped 4 collectives of mesh_dp [5, 7]: all_reduce at dist_job.py:53 (sequence 16), "
      "and went on with "
      "all_gather at dist_job.py:55";
  Finding finding = Bounded(whole);
  EXPECT_EQ(
      finding.headline,
      "Rank 5 skipped 4 collectives of mesh_dp [5, 7]: all_reduce at dist_job.py:53 (sequence 16)");
  ASSERT_EQ(finding.evidence.size(), 1u);
  EXPECT_EQ(finding.evidence[0].text, whole);
}

TEST(Headline, AListIsNoClause) {
  EXPECT_EQ(Bounded("Rank 6 exited with code 7 and printed no error; ranks 3, 5 and 7 waited in "
                    "all_reduce 12 of default_pg [0-7]")
                .headline,
            "Rank 6 exited with code 7 and printed no error");
}

TEST(Headline, NeverCutsInsideOfBracketsOrWords) {
  Finding finding = Bounded("Ranks wait for " + std::string(60, 'x') +
                            " [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]");
  EXPECT_LE(finding.headline.size(), kLongestHeadline);
  EXPECT_TRUE(finding.headline.ends_with("...")) << finding.headline;
  EXPECT_EQ(Bounded("two\nlines").headline, "two lines");
  EXPECT_EQ(Bounded("Rank 4 sends [[16, 256]], rank 0 receives [[]]").headline,
            "Rank 4 sends [16, 256], rank 0 receives scalar");
}

TEST(Headline, TextsOfExceptions) {
  EXPECT_EQ(ShortText("one line\nmore"), "one line");
  EXPECT_EQ(
      ShortText(
          "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79 GiB"),
      "CUDA out of memory");
  EXPECT_EQ(ShortText("a very long text without any end that a reader would want to see on the "
                      "first line of a screen",
                      40),
            "a very long text without any end...");
}

}  // namespace
}  // namespace debrief
