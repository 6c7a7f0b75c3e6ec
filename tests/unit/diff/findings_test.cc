// Which findings of two runs are the same.
#include <gtest/gtest.h>

#include "diff/run_diff.h"

namespace debrief::diff {
namespace findings_test {

Finding Make(std::string rule, Severity severity, std::vector<int32_t> ranks,
             std::string headline) {
  Finding finding;
  finding.rule = std::move(rule);
  finding.severity = severity;
  finding.ranks = std::move(ranks);
  finding.headline = std::move(headline);
  return finding;
}

std::vector<Row> Compare(std::vector<Finding> a, std::vector<Finding> b) {
  Model model_a, model_b;
  model_a.findings = std::move(a);
  model_b.findings = std::move(b);
  Side side_a{.model = model_a}, side_b{.model = model_b};
  side_a.ranks = side_b.ranks = {0, 1, 2, 3};
  RunDiff diff;
  DiffFindings(side_a, side_b, diff);
  return diff.sections.empty() ? std::vector<Row>() : std::move(diff.sections[0].rows);
}

TEST(DiffFindings, NumbersInHeadlinesDoNotMatter) {
  EXPECT_TRUE(Compare({Make("x.late", Severity::kWarning, {2}, "rank 2 is 50.1 ms late")},
                      {Make("x.late", Severity::kWarning, {2}, "rank 2 is 48.7 ms late")})
                  .empty());
}

TEST(DiffFindings, AnotherRankIsAnotherFinding) {
  const auto rows = Compare({Make("x.late", Severity::kWarning, {2}, "rank 2")},
                            {Make("x.late", Severity::kWarning, {3}, "rank 3")});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].change, "new");
  EXPECT_EQ(rows[0].name, "rank 3");
  EXPECT_EQ(rows[1].change, "gone");
}

TEST(DiffFindings, OfWhatIsMerelyToldTheRuleIsEnough) {
  EXPECT_TRUE(Compare({Make("x.idle", Severity::kInfo, {2}, "worst is rank 2")},
                      {Make("x.idle", Severity::kInfo, {3}, "worst is rank 3")})
                  .empty());
}

TEST(DiffFindings, AnotherSeverityIsAChange) {
  const auto rows = Compare({Make("x.late", Severity::kInfo, {2}, "late")},
                            {Make("x.late", Severity::kError, {2}, "late")});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].change, "changed");
  EXPECT_EQ(rows[0].note, "info -> error");
}

TEST(DiffFindings, LinesOfSourceTellFindingsApart) {
  Finding first = Make("x.break", Severity::kWarning, {}, "break"), second = first;
  first.source.push_back({.rank = 0, .file = "/home/a/train.py", .line = 10});
  second.source.push_back({.rank = 0, .file = "/home/b/train.py", .line = 10});
  EXPECT_TRUE(Compare({first}, {second}).empty());
  second.source[0].line = 11;
  EXPECT_EQ(Compare({first}, {second}).size(), 2u);
}

}  // namespace findings_test
}  // namespace debrief::diff
