// What of two runs is held against what.
#include <gtest/gtest.h>

#include "diff/run_diff.h"
#include "diff/side.h"
#include "tables/compilation.h"
#include "tables/rank.h"

namespace debrief::diff {
namespace matching_test {

Model WithRanks(const std::vector<int32_t>& ranks) {
  Model model;
  for (int32_t rank : ranks) {
    RankRow row;
    row.job = row.attempt = 0;
    row.rank = rank;
    model.tables.Edit<RankTable>().Add(row);
  }
  return model;
}

TEST(DiffMatching, RanksThatBothHave) {
  const Model model_a = WithRanks({0, 1, 2}), model_b = WithRanks({1, 2, 3});
  Side a{.model = model_a}, b{.model = model_b};
  const std::string note = MatchRanks(a, b);
  EXPECT_EQ(a.ranks, (std::set<int32_t>{1, 2}));
  EXPECT_FALSE(a.Has(0));
  EXPECT_TRUE(a.Has(kNone32));
  EXPECT_EQ(note,
            "Rank 0 left something in A only and is not compared. Rank 3 left something in B only "
            "and is not compared.");
}

TEST(DiffMatching, TwoSingleRanksAreComparedWithEachOther) {
  const Model model_a = WithRanks({0}), model_b = WithRanks({6});
  Side a{.model = model_a}, b{.model = model_b};
  EXPECT_EQ(MatchRanks(a, b), "Rank 0 is compared with rank 6.");
  EXPECT_EQ(a.RankKey(0), b.RankKey(6));
  EXPECT_FALSE(b.Has(0));
}

// Each compilation a function, a file and a line, in the folder of the run.
Model WithFunctions(const std::string& folder,
                    const std::vector<std::pair<std::string, int32_t>>& functions) {
  Model model;
  for (const auto& [name, line] : functions) {
    auto row = Part::RowOf<CompilationRow>({.input = 0, .job = 0, .attempt = 0, .rank = 0});
    row.input = 0;
    row.compile_id = model.pools.Intern(name + std::to_string(line));
    row.function = model.pools.Intern(name);
    row.file = model.pools.Intern(folder + "/model.py");
    row.line = line;
    model.tables.Edit<CompilationTable>().Add(row);
  }
  return model;
}

std::vector<std::string> NamesOf(const Model& model) {
  Side side{.model = model};
  side.ranks = {0};
  const FunctionNames names(side);
  const auto& table = model.tables.Get<CompilationTable>();
  std::vector<std::string> found;
  for (size_t row = 0; row < table.size(); ++row)
    found.push_back(names.OfCompilation(0, table.compile_id[row]));
  return found;
}

TEST(DiffMatching, FunctionsKeepTheirNamesWhenLinesMove) {
  const Model before = WithFunctions("/a", {{"forward", 10}, {"forward", 40}, {"loss", 50}});
  const Model after = WithFunctions("/b", {{"forward", 12}, {"forward", 45}, {"loss", 55}});
  EXPECT_EQ(NamesOf(before), NamesOf(after));
  EXPECT_EQ(
      NamesOf(before),
      (std::vector<std::string>{"forward (model.py)", "forward (model.py) #2", "loss (model.py)"}));
}

void Compiles(const Model& a, const Model& b, RunDiff& diff) {
  Side side_a{.model = a}, side_b{.model = b};
  side_a.ranks = side_b.ranks = {0};
  DiffCompiles(side_a, side_b, diff);
}

TEST(DiffMatching, FunctionsCompiledMoreOftenOrNoMore) {
  RunDiff diff;
  Compiles(WithFunctions("/a", {{"f", 1}, {"g", 5}}), WithFunctions("/a", {{"f", 1}, {"f", 1}}),
           diff);
  ASSERT_EQ(diff.sections.size(), 1u);
  ASSERT_EQ(diff.sections[0].rows.size(), 2u);
  EXPECT_EQ(diff.sections[0].rows[0].change, "more");
  EXPECT_EQ(diff.sections[0].rows[0].name, "f (model.py)");
  EXPECT_EQ(diff.sections[0].rows[1].change, "gone");
}

TEST(DiffMatching, ATallyNamesTheRanksThatDiffer) {
  Tally tally;
  for (int32_t rank = 0; rank < 4; ++rank) {
    tally.AddA("x", rank, 2);
    tally.AddB("x", rank, rank == 3 ? 5 : 2);
    tally.AddA("same", rank, 1);
    tally.AddB("same", rank, 1);
  }
  const std::vector<Row> rows = tally.Rows();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].ranks, std::vector<int32_t>{3});
  EXPECT_EQ(rows[0].value.difference(), 3);
  EXPECT_EQ(tally.Sum().b, 15);
}

TEST(DiffMatching, AmountsInWords) {
  EXPECT_EQ(SignedText(-12'500'000, Unit::kNanoseconds), "-12.5 ms");
  EXPECT_EQ(SignedText(2'100'000, Unit::kBytes), "+2.10 MB");
  EXPECT_EQ(SignedText(0, Unit::kCount), "0");
  EXPECT_EQ(PercentText({.a = 100, .b = 95}), "-5.0 %");
  EXPECT_EQ(PercentText({.a = 100, .b = 1500}), "15 times");
  EXPECT_EQ(PercentText({.a = 0, .b = 5}), "");
}

}  // namespace matching_test
}  // namespace debrief::diff
