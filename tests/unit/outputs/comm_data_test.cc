#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>

#include "outputs/report/html/collectives/collectives.h"
#include "outputs/report/html/collectives/rank_runs.h"
#include "outputs/report/html/table_islands.h"
#include "tables/comm_arrival.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"
#include "tables/profile_rank.h"
#include "unit/outputs/comm_fixture.h"

namespace debrief::outputs::html {

namespace comm_data_test {

using simdjson::dom::element;

class CommData : public ::testing::Test {
 protected:
  CommData() : job_(model_) {}

  element Parse(std::string text) {
    text_ = std::move(text);
    element document;
    EXPECT_EQ(parser_.parse(text_).get(document), simdjson::SUCCESS) << text_.substr(0, 1000);
    return document;
  }

  std::string TextOf(element document, element number) {
    return std::string(std::string_view(document["texts"].at(size_t(int64_t(number)))));
  }

  StackId Stack(std::initializer_list<std::pair<std::string_view, int32_t>> places) {
    std::vector<FrameId> frames;
    for (const auto& [file, line] : places) {
      Frame frame;
      frame.file = model_.pools.Intern(file);
      frame.function = model_.pools.Intern("step");
      frame.line = line;
      frames.push_back(model_.pools.AddFrame(frame));
    }
    return model_.pools.AddStack(frames);
  }

  void Incomplete(int32_t rank, std::string_view group, std::vector<int64_t> on, int64_t age_ns) {
    FirstIncompleteRow row;
    row.job = row.attempt = 0;
    row.rank = rank;
    row.group_name = row.group_desc = model_.pools.Intern(group);
    row.members = job_.Ranks({0, 1, 2, 3});
    row.seq = 16;
    row.op = model_.pools.Intern("all_reduce");
    row.state = model_.pools.Intern("started");
    row.age_ns = age_ns;
    row.waits_for = model_.pools.lists.Intern(on);
    model_.tables.Edit<FirstIncompleteTable>().Add(row);
  }

  Model model_;
  CommJob job_;
  std::string text_;
  simdjson::dom::parser parser_;
};

TEST_F(CommData, NothingWithoutCollectives) {
  Islands islands("");
  EXPECT_TRUE(AddIslands(model_, 1, islands).ok());
  EXPECT_EQ(islands.Elements(), "");
}

TEST_F(CommData, IslandsOfOneCollective) {
  job_.Match("7", {5, 7}, 15, "completed");
  Islands islands("");
  EXPECT_TRUE(AddIslands(model_, 1, islands).ok());
  for (std::string_view name : {"comm", "waits", "arrivals"})
    EXPECT_NE(islands.Elements().find("data-island=\"" + std::string(name)), std::string::npos);
}

TEST_F(CommData, RunsOfRanksAndTextsByNumber) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  WriteRuns(json, "ranks", std::vector<int64_t>{0, 2, 4, 9}, 8);
  Texts texts(10);
  EXPECT_EQ(texts.Add(""), -1);
  EXPECT_EQ(texts.Add("four"), 0);
  EXPECT_EQ(texts.Add("four"), 0);
  EXPECT_EQ(texts.Add("no room"), -1);
  texts.Write(json);
  json.EndObject();
  EXPECT_EQ(simdjson::minify(Parse(out)), R"({"ranks":[[0,2,3],[9,1,1]],"texts":["four"]})");
}

TEST_F(CommData, RanksThatWaitForTheSameAreOne) {
  Incomplete(0, "world", {3}, 600);
  Incomplete(1, "world", {3}, 900);
  Incomplete(2, "tp", {}, 50);  // behind the next, which it is at
  Incomplete(2, "world", {1, 3}, 70);
  element document = Parse(WaitsJson(model_));
  simdjson::dom::array waits = document["waits"];
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(simdjson::minify(waits.at(0)["ranks"]), "[[0,1,2]]");
  EXPECT_EQ(int64_t(waits.at(0)["oldest_ns"]), 900);
  EXPECT_EQ(int64_t(waits.at(0)["newest_ns"]), 600);
  EXPECT_EQ(simdjson::minify(waits.at(1)["on"]), "[[1,2,2]]");
  EXPECT_EQ(TextOf(document, waits.at(1)["name"]), "world");
}

TEST_F(CommData, ARankThatWaitsForNobodyIsAtItsFirstRow) {
  Incomplete(0, "tp", {}, 50);
  Incomplete(0, "world", {}, 40);
  element document = Parse(WaitsJson(model_));
  ASSERT_EQ(simdjson::dom::array(document["waits"]).size(), 1u);
  EXPECT_EQ(TextOf(document, document["waits"].at(0)["name"]), "tp");
  EXPECT_EQ(int64_t(document["waits"].at(0)["waits"]), 0);
}

// Ranks that wait for lists without any order must not fill the page.
TEST_F(CommData, WaitsAreBounded) {
  for (int32_t rank = 0; rank < 6000; ++rank) {
    std::vector<int64_t> on;
    for (int64_t i = 0; i < 40; ++i) on.push_back(rank + i * i);
    Incomplete(rank, "world", on, 1);
  }
  element document = Parse(WaitsJson(model_));
  EXPECT_EQ(int64_t(document["left_out"]), 2000);
  EXPECT_LT(text_.size(), 2'000'000u);
}

TEST_F(CommData, LatenessIsBehindTheFirstWithoutClockOffsets) {
  job_.Match("7", {5, 7}, 15, "completed");
  job_.Match("7", {5, 7}, 16, "started", {5});
  CommOpTable& ops = job_.ops();
  ops.created_ns[0] = CommJob::kStart + 12'345'678;
  ops.created_ns[1] = CommJob::kStart + 400'000'000;
  CommArrivalRow clock;
  clock.job = clock.attempt = 0;
  clock.rank = 7;
  clock.clock_correction_ns = 400'000'000;
  model_.tables.Edit<CommArrivalTable>().Add(clock);
  element document = Parse(ArrivalsJson(model_));
  element group = document["flight"]["groups"].at(0);
  EXPECT_EQ(simdjson::minify(group["late_us"]), "[[12300,-1],[0,0]]");
  EXPECT_EQ(simdjson::minify(group["seq"]), "[15,16]");
  EXPECT_EQ(TextOf(document, group["op"].at(0)), "all_reduce");
  EXPECT_EQ(simdjson::dom::array(document["profile"]["groups"]).size(), 0u);
}

TEST_F(CommData, LatenessFromProfiles) {
  ProfileCollectiveMatchRow match;
  match.job = match.attempt = 0;
  match.match = 0;
  match.group_name = model_.pools.Intern("0");
  match.ranks = job_.Ranks({0, 3});
  match.op = model_.pools.Intern("all_gather");
  match.position = 4;
  model_.tables.Edit<ProfileCollectiveMatchTable>().Add(match);
  for (int32_t rank : {0, 3}) {
    ProfileCollectiveWaitRow wait;
    wait.job = wait.attempt = 0;
    wait.rank = rank;
    wait.match = 0;
    wait.start_ns = 1000 + rank * 2'000'400;
    model_.tables.Edit<ProfileCollectiveWaitTable>().Add(wait);
  }
  element group = Parse(ArrivalsJson(model_))["profile"]["groups"].at(0);
  EXPECT_EQ(simdjson::minify(group["late_us"]), "[[0],[6000]]");
  EXPECT_EQ(simdjson::minify(group["seq"]), "[4]") << "the position where the file has no sequence";
  EXPECT_EQ(simdjson::minify(group["members"]), "[[0,3,2]]") << "those that show it";
}

TEST_F(CommData, ArrivalsOfManyRanksAreBounded) {
  std::vector<int64_t> ranks;
  for (int64_t rank = 0; rank < 2000; ++rank) ranks.push_back(rank);
  for (int32_t seq = 0; seq < 300; ++seq) {
    CommMatchRow row;
    row.job = row.attempt = 0;
    row.match = seq;
    row.members = job_.Ranks(ranks);
    row.kind = model_.pools.Intern("collective");
    row.seq = seq;
    job_.matches().Add(row);
  }
  element group = Parse(ArrivalsJson(model_))["flight"]["groups"].at(0);
  EXPECT_EQ(int64_t(group["total"]), 300);
  EXPECT_EQ(simdjson::dom::array(group["seq"]).size(), 120u);
  EXPECT_EQ(int64_t(group["seq"].at(119)), 299) << "the last ones";
}

TEST_F(CommData, StacksOnceAndCellsThatDiffer) {
  job_.Match("7", {4, 5, 7}, 15, "completed");
  const StackId usual = Stack({{"/lib/site-packages/torch/dist.py", 9}, {"/home/u/train.py", 52}});
  const StackId other = Stack({{"/home/u/train.py", 60}, {"/home/u/train.py", 52}});
  job_.ops().stack[0] = job_.ops().stack[2] = usual;
  job_.ops().stack[1] = other;
  element document = Parse(StacksJson(model_, MakeGrids(model_).grids));
  element group = document["groups"].at(0);
  EXPECT_EQ(simdjson::minify(group["column"]), "[0]");
  EXPECT_EQ(simdjson::minify(group["cells"]), "[[0,1,1]]");
  EXPECT_EQ(simdjson::minify(document["stacks"]), "[[0,1],[2,1]]");
  EXPECT_EQ(int64_t(document["frames"].at(0).at(3)), 1) << "of a library";
  EXPECT_EQ(int64_t(document["frames"].at(1).at(3)), 0) << "the reader's";
  EXPECT_EQ(TextOf(document, document["frames"].at(1).at(0)), "/home/u/train.py");
}

// Of two members that differ neither is the majority: the column shows the op of the match.
TEST_F(CommData, TheColumnsOwnStackDecidesATie) {
  job_.Match("7", {5, 7}, 16, "started");
  job_.ops().op[0] = model_.pools.Intern("all_gather");
  job_.ops().stack[0] = Stack({{"a.py", 1}});
  job_.ops().stack[1] = Stack({{"a.py", 2}});
  element group = Parse(StacksJson(model_, MakeGrids(model_).grids))["groups"].at(0);
  EXPECT_EQ(simdjson::minify(group["cells"]), "[[0,0,1]]");
}

TEST_F(CommData, HostileStacksAreBounded) {
  for (int32_t i = 0; i < 100; ++i) {
    job_.Match("7", {5, 7}, i, "completed");
    std::vector<FrameId> frames;
    for (int32_t depth = 0; depth < 3000; ++depth) {
      Frame frame;
      frame.file = model_.pools.Intern(std::string(500, 'x') + std::to_string(i * 3000 + depth));
      frames.push_back(model_.pools.AddFrame(frame));
    }
    job_.ops().stack.back() = model_.pools.AddStack(frames);
  }
  element document = Parse(StacksJson(model_, MakeGrids(model_).grids));
  EXPECT_LT(text_.size(), 3'000'000u);
  EXPECT_GT(int64_t(document["cut"]), 0);
}

TEST_F(CommData, RankTables) {
  ProfileRankRow row;
  row.job = row.attempt = 0;
  row.rank = 6;
  row.step_ns = 135;
  row.reason = model_.pools.Intern("host");
  model_.tables.Edit<ProfileRankTable>().Add(row);
  element table = Parse(TablesJson(model_, "ranks"))["tables"]["profile_rank"];
  EXPECT_EQ(int64_t(table["total"]), 1);
  EXPECT_EQ(std::string_view(table["rows"].at(0)["reason"]), "host");
}

}  // namespace comm_data_test
}  // namespace debrief::outputs::html
