// The incident picture: who did what until when, as far as the tables tell, and that no text breaks
// out of it.
#include "outputs/incident/incident.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "outputs/incident/gather.h"
#include "tables/job.h"
#include "tables/profile_step.h"
#include "tables/rank.h"
#include "tables/text_event.h"
#include "unit/outputs/comm_fixture.h"

namespace debrief::incident {

namespace incident_test {

constexpr int64_t kSecond = 1'000'000'000;

class IncidentTest : public ::testing::Test {
 protected:
  void AddRanks(int32_t count) {
    model_.tables.Edit<JobTable>().Add({0, model_.pools.Intern("j"), count, 1, count});
    for (int32_t rank = 0; rank < count; ++rank)
      model_.tables.Edit<RankTable>().Add({0, 0, rank, StringId::kNone, 1});
  }

  // Rank `blamed` never comes to the second collective; the watchdogs of the others give up after
  // 10 s.
  void Hang(int32_t ranks, int32_t blamed) {
    AddRanks(ranks);
    std::vector<int64_t> members;
    for (int32_t rank = 0; rank < ranks; ++rank) members.push_back(rank);
    for (int32_t rank = 0; rank < ranks; ++rank) {
      job_.Op(rank, "0", members, 1, "completed");
      if (rank == blamed) continue;
      FirstIncompleteRow row;
      row.job = row.attempt = 0;
      row.rank = rank;
      row.group_desc = model_.pools.Intern("mesh_dp");
      row.op = model_.pools.Intern("all_reduce");
      row.seq = 2;
      row.op_row = job_.Op(rank, "0", members, 2, "scheduled");
      model_.tables.Edit<FirstIncompleteTable>().Add(row);
      AddEvent(rank, "watchdog_timeout", CommJob::kStart + 10 * kSecond);
    }
    job_.Match("0", members, 2, "scheduled", {blamed});
    job_.matches().first_ns.back() = job_.matches().last_ns.back() = CommJob::kStart + 2'000'000;
  }

  void AddEvent(int32_t rank, std::string_view kind, int64_t time,
                std::string_view text = "a line") {
    TextEventRow row;
    row.job = row.attempt = 0;
    row.rank = row.input = rank;
    row.kind = model_.pools.Intern(kind);
    row.time_ns = time;
    row.text = model_.pools.Intern(text);
    model_.tables.Edit<TextEventTable>().Add(row);
  }

  Finding Blame(int32_t rank) {
    Finding finding;
    finding.rule = "flight.host_never_came";
    finding.role = Role::kCause;
    finding.severity = Severity::kError;
    finding.job = finding.attempt = 0;
    finding.ranks = {rank};
    finding.groups = {{"0", "mesh_dp", {}}};
    finding.op = "all_reduce";
    finding.seq = 2;
    return finding;
  }

  static const Span* Find(const Row& row, Activity activity) {
    const auto found = std::find_if(row.spans.begin(), row.spans.end(),
                                    [&](const Span& span) { return span.activity == activity; });
    return found == row.spans.end() ? nullptr : &*found;
  }

  Model model_;
  CommJob job_{model_};
};

TEST_F(IncidentTest, WaitsUntilTheTimeoutAndTheBlamedRankComesFirst) {
  Hang(4, 2);
  const Incident incident = MakeIncident(model_, Blame(2));
  ASSERT_EQ(incident.rows.size(), 4U);
  EXPECT_EQ(incident.rows[0].ranks, std::vector<int32_t>{2});
  EXPECT_TRUE(incident.rows[0].is_blamed);
  EXPECT_EQ(Find(incident.rows[0], Activity::kWaiting), nullptr);
  EXPECT_NE(Find(incident.rows[0], Activity::kComputing), nullptr);
  for (size_t i = 1; i < 4; ++i) {
    const Span* waits = Find(incident.rows[i], Activity::kWaiting);
    ASSERT_NE(waits, nullptr);
    EXPECT_EQ(waits->to, CommJob::kStart + 10 * kSecond);
    EXPECT_EQ(waits->words, "all_reduce #2 of mesh_dp");
  }
  EXPECT_EQ(incident.moment, "divergence: all_reduce #2");
}

TEST_F(IncidentTest, SpansOfARowFollowEachOther) {
  Hang(4, 2);
  for (const Row& row : MakeIncident(model_, Blame(2)).rows) {
    for (size_t i = 1; i < row.spans.size(); ++i) EXPECT_EQ(row.spans[i].from, row.spans[i - 1].to);
  }
}

TEST_F(IncidentTest, ThousandsOfRanksAreFewRows) {
  Hang(2000, 7);
  const Incident incident = MakeIncident(model_, Blame(7));
  EXPECT_LE(incident.rows.size(), 20U);
  size_t ranks = 0;
  for (const Row& row : incident.rows) ranks += row.ranks.size();
  EXPECT_EQ(ranks, 2000U);
  EXPECT_EQ(incident.rows[0].ranks, std::vector<int32_t>{7});
  EXPECT_LT(IncidentSvg(incident, true).size(), 100'000U);
}

TEST_F(IncidentTest, WithoutTimesNothingIsInvented) {
  AddRanks(2);
  AddEvent(1, "traceback", kNone64, "ValueError: no");
  const Incident incident = MakeIncident(model_, Blame(1));
  ASSERT_EQ(incident.rows.size(), 2U);
  EXPECT_EQ(incident.zero, kNone64);
  for (const Row& row : incident.rows) {
    ASSERT_EQ(row.spans.size(), 1U);
    EXPECT_EQ(row.spans[0].activity, Activity::kUnknown);
  }
  EXPECT_NE(IncidentSvg(incident, false).find("No line of the output has a time"),
            std::string::npos);
}

TEST_F(IncidentTest, NothingKnownIsNoPicture) {
  AddRanks(2);
  EXPECT_TRUE(MakeIncident(model_, Blame(1)).empty());
  EXPECT_EQ(IncidentSvg(MakeIncident(model_, Blame(1)), false), "");
}

TEST_F(IncidentTest, TextsStayTexts) {
  Hang(2, 1);
  AddEvent(1, "traceback", CommJob::kStart + kSecond, "</svg><script>alert(1)</script>\"'&");
  const std::string svg = IncidentSvg(MakeIncident(model_, Blame(1)), true);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find("</svg>"), svg.size() - 7);
}

TEST_F(IncidentTest, SlowJobsShowSteps) {
  AddRanks(2);
  for (int32_t rank = 0; rank < 2; ++rank) {
    for (int32_t step = 0; step < 9; ++step) {
      ProfileStepRow row;
      row.job = row.attempt = 0;
      row.rank = row.input = rank;
      row.step = step;
      row.start_ns = CommJob::kStart + step * kSecond;
      row.duration_ns = kSecond;
      row.compute_ns = rank == 1 ? kSecond : kSecond / 4;
      row.exposed_communication_ns = kSecond - row.compute_ns;
      row.exposed_memory_ns = row.idle_ns = 0;
      model_.tables.Edit<ProfileStepTable>().Add(row);
    }
  }
  Finding finding = Blame(1);
  finding.rule = "profile.straggler";
  const Incident incident = MakeIncident(model_, finding);
  ASSERT_TRUE(incident.is_slow);
  EXPECT_EQ(incident.rows[0].ranks, std::vector<int32_t>{1});
  EXPECT_EQ(incident.rows[0].marks.size(), 6U) << "the last six steps";
  EXPECT_NE(Find(incident.rows[1], Activity::kCollective), nullptr);
  EXPECT_EQ(IncidentSketch(incident, 100),
            "ranks 0-1: e[c]  ([ ] blamed, c computing, e exposed communication)");
}

}  // namespace incident_test

}  // namespace debrief::incident
