#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>

#include "outputs/report/html/collectives/collectives.h"
#include "outputs/report/html/collectives/grid.h"
#include "outputs/report/html/html.h"
#include "unit/outputs/comm_fixture.h"

namespace debrief::outputs::html {

namespace flight_data_test {

using simdjson::dom::element;

class FlightData : public ::testing::Test {
 protected:
  FlightData() : job_(model_) {}

  Grids Fill() { return MakeGrids(model_); }

  element Parse() {
    text_ = FlightJson(model_, MakeGrids(model_));
    element document;
    EXPECT_EQ(parser_.parse(text_).get(document), simdjson::SUCCESS) << text_.substr(0, 1000);
    return document;
  }

  Finding& Blame(int32_t rank, std::vector<int32_t> members, int64_t seq) {
    Finding& finding = model_.findings.emplace_back();
    finding.job = finding.attempt = 0;
    finding.role = Role::kCause;
    finding.ranks = {rank};
    finding.groups.push_back({.name = "7", .desc = "mesh_dp", .ranks = std::move(members)});
    finding.seq = seq;
    return finding;
  }

  static std::vector<int64_t> Ranks(int64_t count) {
    std::vector<int64_t> ranks;
    for (int64_t i = 0; i < count; ++i) ranks.push_back(i);
    return ranks;
  }

  Model model_;
  CommJob job_;
  std::string text_;
  simdjson::dom::parser parser_;
};

TEST_F(FlightData, NothingWithoutCollectives) {
  Islands islands("");
  EXPECT_TRUE(AddCollectiveIslands(model_, islands).ok());
  EXPECT_EQ(islands.Elements(), "");
}

TEST_F(FlightData, CellsShowTheCliff) {
  job_.Match("7", {5, 7}, 15, "completed");
  job_.Match("7", {5, 7}, 16, "started", {5});
  Grids grids = Fill();
  ASSERT_EQ(grids.grids.size(), 1u);
  EXPECT_EQ(grids.grids[0].cells, (std::vector<std::string>{"cm", "ct"}));
  EXPECT_EQ(grids.grids[0].trouble, 1u);
}

TEST_F(FlightData, UnknownAndScheduled) {
  job_.Match("7", {4, 5, 7}, 16, "scheduled", {5});
  job_.matches().unknown[0] = job_.Ranks({5});
  job_.matches().missing[0] = ListId::kNone;
  EXPECT_EQ(Fill().grids[0].cells, (std::vector<std::string>{"s", "u", "s"}));
}

TEST_F(FlightData, MembersOfASendThatTakeNoPart) {
  job_.Match("7", {4, 5, 6}, 1, "started", {6});
  job_.matches().kind[0] = model_.pools.Intern("p2p");
  job_.matches().missing[0] = ListId::kNone;
  EXPECT_EQ(Fill().grids[0].cells, (std::vector<std::string>{"t", "t", "."}));
}

TEST_F(FlightData, MismatchIsDecidedByTheMajority) {
  job_.Match("7", {4, 5, 6, 7}, 16, "started");
  job_.matches().status[0] = model_.pools.Intern("mismatch");
  job_.matches().mismatch[0] = model_.pools.Intern("size");
  job_.ops().input_sizes[1] = model_.pools.Intern("[[5, 4]]");
  Grids grids = Fill();
  EXPECT_EQ(grids.grids[0].cells, (std::vector<std::string>{"t", "x", "t", "t"}));
  ASSERT_EQ(grids.grids[0].differences.size(), 1u);
  element differs = Parse()["groups"].at(0)["differs"].at(0);
  element text = Parse()["texts"].at(size_t(int64_t(differs.at(3))));
  EXPECT_EQ(std::string_view(text), "[[5, 4]] Float to [[4, 4]] Float");
}

TEST_F(FlightData, MismatchOfTwoIsDecidedByTheFinding) {
  job_.Match("7", {5, 7}, 16, "started");
  job_.matches().mismatch[0] = model_.pools.Intern("dtype");
  job_.ops().input_dtypes[1] = model_.pools.Intern("Half");
  EXPECT_EQ(Fill().grids[0].cells, (std::vector<std::string>{"x", "x"}));
  Blame(7, {5, 7}, 16);
  EXPECT_EQ(Fill().grids[0].cells, (std::vector<std::string>{"t", "x"}));
}

TEST_F(FlightData, SameNameOtherMembersIsAnotherGroup) {
  job_.Match("7", {4, 6}, 1, "completed");
  job_.Match("7", {5, 7}, 1, "started");
  Blame(5, {5, 7}, 1);
  Grids grids = Fill();
  ASSERT_EQ(grids.grids.size(), 2u);
  EXPECT_EQ(grids.grids[0].ranks, (std::vector<int64_t>{5, 7}));
  EXPECT_TRUE(grids.grids[1].mentions.empty());
}

TEST_F(FlightData, GroupsWithTroubleComeFirstAndTheRestIsCounted) {
  for (int64_t i = 0; i < 70; ++i)
    job_.Match(std::to_string(i), Ranks(i % 5 + 2), 1, i == 33 ? "started" : "completed");
  Grids grids = Fill();
  EXPECT_EQ(grids.grids.size(), kMostGrids);
  EXPECT_EQ(grids.left_out, 6u);
  EXPECT_EQ(grids.grids[0].trouble, 1u);
  EXPECT_EQ(grids.grids[1].ranks.size(), 6u) << "then by size";
}

TEST_F(FlightData, KeepsTheLastSequencesTheFirstTroubleAndWhatFindingsMention) {
  for (int32_t seq = 0; seq < 1000; ++seq)
    job_.Match("7", {5, 7}, seq, seq == 500 ? "started" : "completed");
  Blame(5, {5, 7}, 200);
  std::vector<int64_t> seqs;
  for (int64_t seq : simdjson::dom::array(Parse()["groups"].at(0)["seq"])) seqs.push_back(seq);
  ASSERT_EQ(seqs.size(), kMostColumns + 14);
  EXPECT_EQ(seqs[0], 197);
  EXPECT_EQ(seqs[7], 497);
  EXPECT_EQ(seqs[14], 880);
  EXPECT_EQ(seqs.back(), 999);
}

TEST_F(FlightData, LargeJobsStayUnderTwoMegabytes) {
  for (int32_t group = 0; group < 40; ++group) {
    for (int32_t seq = 0; seq < 4; ++seq)
      job_.Match(std::to_string(group), Ranks(512), seq, "started", {3});
  }
  // Columns beyond those that have calls cost nothing to make.
  CommMatchTable& matches = job_.matches();
  for (int32_t group = 0; group < 40; ++group) {
    for (int32_t seq = 4; seq < 2000; ++seq) {
      CommMatchRow row;
      row.job = row.attempt = 0;
      row.match = static_cast<int64_t>(matches.size());
      row.group_name = model_.pools.Intern(std::to_string(group));
      row.group_desc = model_.pools.Intern("mesh_dp");
      row.members = job_.Ranks(Ranks(512));
      row.seq = seq;
      matches.Add(row);
    }
  }
  element document = Parse();
  EXPECT_LT(text_.size(), 2'000'000u);
  EXPECT_EQ(simdjson::dom::array(document["groups"]).size(), 40u);
}

TEST_F(FlightData, AMillionMembersAndHostileTexts) {
  std::string hostile = "</script>";
  hostile.append(1 << 20, 'x');
  job_.Match(hostile, Ranks(2), 1, "started");
  job_.Match("8", Ranks(1'000'000), 1, "started", Ranks(999'999));
  for (int32_t i = 0; i < 3000; ++i) {
    job_.Match("9", {0, 1}, i, "completed");
    job_.ops().input_sizes.back() = model_.pools.Intern(std::to_string(i) + std::string(5000, '9'));
  }
  Parse();
  EXPECT_LT(text_.size(), 2'000'000u);
  EXPECT_EQ(text_.find('<'), std::string::npos);
}

TEST_F(FlightData, WhereEachRankIs) {
  job_.Match("7", {5, 7}, 16, "started", {5});
  FirstIncompleteRow row;
  row.job = row.attempt = 0;
  row.rank = 7;
  row.group_name = model_.pools.Intern("7");
  row.seq = 16;
  row.age_ns = 601'000'000'000;
  row.waits_for = job_.Ranks({0, 2, 4, 5});
  model_.tables.Edit<FirstIncompleteTable>().Add(row);
  element first = Parse()["incomplete"].at(0);
  EXPECT_EQ(int64_t(first["rank"]), 7);
  EXPECT_EQ(int64_t(first["waits"]), 4);
  EXPECT_EQ(simdjson::minify(first["waits_for"]), "[[0,2,3],[5,1,1]]");
}

}  // namespace flight_data_test
}  // namespace debrief::outputs::html
