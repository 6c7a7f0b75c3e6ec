// Each rule of the verdict with findings made by hand: when it joins them, and when it must not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyses/verdict/rules.h"
#include "analyses/verdict/waits.h"
#include "tables/comm_arrival.h"
#include "tables/comm_dump.h"
#include "tables/comm_op.h"
#include "tables/compilation.h"
#include "tables/compile_life.h"
#include "tables/compile_log.h"
#include "tables/profile_breakdown.h"
#include "tables/profile_idle.h"
#include "tables/profile_rank.h"
#include "tables/profile_step.h"
#include "tables/text_event.h"

namespace debrief::analyses::verdict {
namespace verdict_test {

constexpr int64_t kSecond = 1'000'000'000;

class VerdictTest : public ::testing::Test {
 protected:
  size_t Find(std::string_view rule, std::vector<int32_t> ranks, double confidence,
              Severity severity = Severity::kError, Role role = Role::kCause) {
    Finding& finding = findings_.emplace_back();
    finding.rule = rule;
    finding.ranks = std::move(ranks);
    finding.confidence = confidence;
    finding.severity = severity;
    finding.role = role;
    finding.job = 0;
    finding.attempt = 0;
    finding.headline = fmt::format("{} {}", rule, findings_.size());
    finding.evidence.push_back({"made by hand", "rank", {}});
    return findings_.size() - 1;
  }

  // An operation of a waiter, created at `created_ns`, as evidence of a finding.
  void WaitsIn(size_t finding, int32_t rank, int64_t created_ns, int32_t timeout_ms = 10'000) {
    auto row = Part::RowOf<CommOpRow>({0, 0, 0, rank});
    row.created_ns = created_ns;
    row.timeout_ms = timeout_ms;
    auto& ops = model_.tables.Edit<CommOpTable>();
    ops.Add(row);
    findings_[finding].evidence.push_back(
        {"waits", "comm_op", {static_cast<int64_t>(ops.size()) - 1}});
    findings_[finding].op = "all_reduce";
    findings_[finding].seq = 16;
    findings_[finding].groups = {{"8", "mesh_dp", {3, 7}}};
  }

  void Compiles(int32_t rank, std::string_view function, int64_t start_ns, int64_t end_ns,
                bool unfinished = false) {
    auto row = Part::RowOf<CompilationRow>({0, 0, 0, rank});
    row.compile_id = model_.pools.Intern("1/0");
    row.function = model_.pools.Intern(function);
    row.file = model_.pools.Intern("/home/user/train.py");
    row.line = 34;
    row.outcome = model_.pools.Intern(unfinished ? "unfinished" : "ok");
    row.is_last = unfinished;
    row.start_ns = start_ns;
    row.end_ns = end_ns;
    model_.tables.Edit<CompilationTable>().Add(row);
  }

  Board MakeBoard() { return Board(model_, findings_, 0, 0); }

  bool Follows(size_t effect, size_t cause) const {
    const auto& explains = findings_[cause].explains;
    return std::find(explains.begin(), explains.end(), effect) != explains.end() &&
           findings_[effect].role == Role::kConsequence;
  }

  Model model_;
  std::vector<Finding> findings_;
};

TEST_F(VerdictTest, NothingFollowsFromItself) {
  size_t a = Find("a.x", {1}, 0.5), b = Find("b.x", {1}, 0.5), c = Find("c.x", {1}, 0.5);
  Board board = MakeBoard();
  EXPECT_TRUE(board.Fold(a, b));
  EXPECT_TRUE(board.Fold(b, c));
  EXPECT_FALSE(board.Fold(c, a));
  EXPECT_FALSE(board.Fold(a, a));
  EXPECT_TRUE(board.Fold(a, b)) << "saying it twice changes nothing";
  EXPECT_EQ(findings_[a].explains, std::vector<size_t>{b});
  EXPECT_EQ(findings_[a].role, Role::kCause);
}

TEST_F(VerdictTest, FindingsOfOtherAttemptsAreNotSeen) {
  Find("flight.no_dump", {1}, 0.5);
  findings_[0].attempt = 1;
  EXPECT_TRUE(MakeBoard().Find("flight.").empty());
}

TEST_F(VerdictTest, AgreementIsSurerAndNeverCertain) {
  EXPECT_GT(Agree(0.9, 0.6), 0.9);
  EXPECT_LT(Agree(0.9, 0.6), Agree(0.9, 0.9));
  EXPECT_LE(Agree(0.98, 1), 0.99);
  EXPECT_EQ(Agree(1, 0.5), 1);
}

TEST_F(VerdictTest, ACompilationThatFillsTheWaitIsTheCause) {
  size_t late = Find("flight.host_never_came", {3}, 0.9);
  size_t waiting = Find("flight.waiting", {0, 7}, 1, Severity::kInfo, Role::kConsequence);
  size_t differs = Find("compile.rank_differs", {3}, 0.9, Severity::kWarning);
  findings_[late].explains = {waiting};
  findings_[differs].compile_ids = {"1/0"};
  WaitsIn(late, 7, 100 * kSecond);
  Compiles(3, "aux", 99 * kSecond, 144 * kSecond);
  Board board = MakeBoard();
  CompilingWhileOthersWait(board);
  ASSERT_EQ(findings_.size(), 4u);
  EXPECT_EQ(findings_[3].headline,
            "Rank 3 was compiling aux (train.py:34) for 45 s while ranks 0 and 7 waited in "
            "all_reduce #16 of mesh_dp [3, 7]");
  EXPECT_EQ(findings_[3].ranks, std::vector<int32_t>{3});
  EXPECT_EQ(findings_[3].compile_ids, std::vector<std::string>{"1/0"});
  EXPECT_TRUE(Follows(late, 3));
  EXPECT_TRUE(Follows(differs, 3));
  EXPECT_GT(findings_[3].confidence, 0.9);
}

TEST_F(VerdictTest, ALogThatEndsInsideOfACompilationCounts) {
  size_t late = Find("flight.host_never_came", {3}, 0.9);
  WaitsIn(late, 7, 100 * kSecond);
  Compiles(3, "aux", 98 * kSecond, 98 * kSecond, true);
  Board board = MakeBoard();
  CompilingWhileOthersWait(board);
  ASSERT_EQ(findings_.size(), 2u);
  EXPECT_EQ(findings_[1].headline,
            "Rank 3 was compiling aux (train.py:34) from 00:01:38 on, until its log ends, while "
            "rank 7 waited in all_reduce #16 of mesh_dp [3, 7]");
}

class TimeoutsTest : public VerdictTest {
 protected:
  void SetUp() override {
    timeouts_ = Find("text_hang.timeouts", {0, 1}, 1, Severity::kWarning, Role::kObservation);
    auto row = Part::RowOf<TextEventRow>({0, 0, 0, 0});
    row.time_ns = 110 * kSecond;
    row.ran_ms = 10'000;
    model_.tables.Edit<TextEventTable>().Add(row);
    findings_[timeouts_].evidence.push_back({"says so", "text_event", {0}});
  }

  size_t timeouts_ = 0;
};

TEST_F(TimeoutsTest, TheOnlyOtherRankThatCompilesIsToBlame) {
  Compiles(3, "aux", 99 * kSecond, 144 * kSecond);
  Compiles(0, "aux", 99 * kSecond, 144 * kSecond);
  Board board = MakeBoard();
  CompilingWhileOthersWait(board);
  ASSERT_EQ(findings_.size(), 2u);
  EXPECT_EQ(findings_[1].headline,
            "Rank 3 was compiling aux (train.py:34) for 45 s while ranks 0-1 waited");
  EXPECT_TRUE(Follows(timeouts_, 1));
}

TEST_F(TimeoutsTest, OfTwoThatCompileNoneIs) {
  Compiles(3, "aux", 99 * kSecond, 144 * kSecond);
  Compiles(2, "aux", 99 * kSecond, 144 * kSecond);
  Board board = MakeBoard();
  CompilingWhileOthersWait(board);
  EXPECT_EQ(findings_.size(), 1u);
}

TEST_F(VerdictTest, CompilationsOfOtherTimesOrRanksAreNot) {
  size_t late = Find("flight.host_never_came", {3}, 0.9);
  WaitsIn(late, 7, 100 * kSecond);
  Compiles(3, "before", 50 * kSecond, 99 * kSecond);
  Compiles(3, "short", 101 * kSecond, 104 * kSecond);
  Compiles(2, "other", 99 * kSecond, 144 * kSecond);
  Board board = MakeBoard();
  CompilingWhileOthersWait(board);
  EXPECT_EQ(findings_.size(), 1u);
  EXPECT_EQ(findings_[late].role, Role::kCause);
}

TEST_F(VerdictTest, ADeathExplainsAMissingDump) {
  size_t died = Find("text_hang.died", {4}, 0.8);
  size_t absent = Find("flight.no_dump", {4}, 0.8);
  WaitsIn(absent, 7, 100 * kSecond);
  Board board = MakeBoard();
  DeathExplainsAbsence(board);
  EXPECT_TRUE(Follows(absent, died));
  EXPECT_GT(findings_[died].confidence, 0.8);
  EXPECT_EQ(findings_[died].headline,
            "text_hang.died 1; ranks 3 and 7 waited in all_reduce #16 of mesh_dp [3, 7]");
}

TEST_F(VerdictTest, ADeathIsToldWithTheEndOfItsCompileLog) {
  size_t died = Find("text_hang.exited", {4}, 0.8);
  for (int32_t rank : {3, 4}) {
    auto life = Part::RowOf<CompileLifeRow>({0, 0, 0, rank});
    life.end_ns = 100 * kSecond;
    life.outcome = model_.pools.Intern(rank == 4 ? "unfinished" : "ok");
    model_.tables.Edit<CompileLifeTable>().Add(life);
  }
  Board board = MakeBoard();
  DeathExplainsAbsence(board);
  EXPECT_EQ(findings_[died].evidence.back().text,
            "its compile log ends at 00:01:40, inside of a compilation");
}

TEST_F(VerdictTest, ADeathOfAnotherRankDoesNot) {
  size_t died = Find("text_hang.died", {5}, 0.8);
  size_t absent = Find("flight.no_dump", {4}, 0.8);
  Board board = MakeBoard();
  DeathExplainsAbsence(board);
  EXPECT_FALSE(Follows(absent, died));
  EXPECT_EQ(findings_[died].confidence, 0.8);
}

TEST_F(VerdictTest, TextThatSaysTheSameSupportsDumps) {
  size_t dumps = Find("flight.skipped_collective", {5}, 0.85);
  size_t text = Find("text_hang.differs", {5}, 0.6);
  size_t timeouts = Find("text_hang.timeouts", {1, 7}, 1, Severity::kWarning, Role::kConsequence);
  Board board = MakeBoard();
  TextSupportsDumps(board);
  EXPECT_TRUE(Follows(text, dumps));
  EXPECT_TRUE(Follows(timeouts, dumps));
  EXPECT_GT(findings_[dumps].confidence, Agree(0.85, 0.6));
}

TEST_F(VerdictTest, TextThatNamesMoreRanksSupportsLess) {
  size_t dumps = Find("flight.size_mismatch", {2}, 0.85);
  size_t text = Find("text_hang.differs", {0, 2}, 0.6);
  Board board = MakeBoard();
  TextSupportsDumps(board);
  EXPECT_TRUE(Follows(text, dumps));
  EXPECT_LT(findings_[dumps].confidence, Agree(0.85, 0.6));
}

TEST_F(VerdictTest, TextThatNamesFewerRanksSupportsLess) {
  size_t dumps = Find("flight.deadlock", {1, 2}, 0.8);
  size_t text = Find("text_hang.silent", {2}, 0.6);
  Board board = MakeBoard();
  TextSupportsDumps(board);
  EXPECT_TRUE(Follows(text, dumps));
  EXPECT_EQ(findings_[dumps].confidence, Agree(0.8, 0.3));
}

TEST_F(VerdictTest, TextThatBlamesAnotherRankIsLowered) {
  size_t dumps = Find("flight.size_mismatch", {2}, 0.85);
  size_t text = Find("text_hang.silent", {6}, 0.6);
  Board board = MakeBoard();
  TextSupportsDumps(board);
  NoContradictions(board);
  EXPECT_EQ(findings_[dumps].role, Role::kCause);
  EXPECT_EQ(findings_[dumps].confidence, 0.85);
  EXPECT_EQ(findings_[text].role, Role::kObservation);
  EXPECT_EQ(findings_[text].severity, Severity::kInfo);
  EXPECT_NE(findings_[text].why.find("rank 2"), std::string::npos);
}

TEST_F(VerdictTest, OneStragglerOfTwoKindsOfData) {
  size_t dumps = Find("flight.straggler", {6}, 0.6, Severity::kWarning);
  size_t profile = Find("profile.straggler", {6}, 0.9, Severity::kWarning);
  size_t other = Find("flight.straggler", {1}, 0.6, Severity::kWarning);
  Board board = MakeBoard();
  OneStraggler(board);
  NoContradictions(board);
  EXPECT_TRUE(Follows(dumps, profile));
  EXPECT_GT(findings_[profile].confidence, 0.9);
  EXPECT_EQ(findings_[other].role, Role::kObservation) << "it blames another rank";
}

TEST_F(VerdictTest, CausesOfOneAnalysisStandBesideEachOther) {
  Find("flight.size_mismatch", {2}, 0.85);
  Find("flight.type_mismatch", {5}, 0.8);
  Board board = MakeBoard();
  NoContradictions(board);
  EXPECT_EQ(board.FindCauses().size(), 2u);
}

TEST_F(VerdictTest, ARankThatCompilesOtherwiseIsNoCauseOfAnotherRanksHang) {
  Find("flight.host_never_came", {6}, 0.9);
  size_t differs = Find("compile.rank_differs", {3}, 0.9, Severity::kWarning);
  Board board = MakeBoard();
  NoContradictions(board);
  EXPECT_EQ(findings_[differs].role, Role::kObservation);
}

TEST_F(VerdictTest, ARankThatCompilesOtherwiseBesideAStragglerIsBoth) {
  Find("profile.straggler", {6}, 0.9, Severity::kWarning);
  Find("compile.rank_differs", {3}, 0.9, Severity::kWarning);
  Board board = MakeBoard();
  NoContradictions(board);
  EXPECT_EQ(board.FindCauses().size(), 2u);
}

class ProfileVerdictTest : public VerdictTest {
 protected:
  // A straggler of four steps with so much more a step.
  size_t Straggler(int32_t rank, std::string_view reason, int64_t excess_ns) {
    size_t finding = Find("profile.straggler", {rank}, 0.9, Severity::kWarning);
    auto row = Part::RowOf<ProfileRankRow>({0, 0, 0, rank});
    row.reason = model_.pools.Intern(reason);
    row.windows = 4;
    (reason == "gpu" ? row.excess_compute_ns : row.excess_host_ns) = excess_ns;
    model_.tables.Edit<ProfileRankTable>().Add(row);
    findings_[finding].evidence.push_back({"row", "profile_rank", {0}});
    return finding;
  }

  size_t Exposed(int32_t rank, int64_t exposed_ns, int64_t begin_ns = 0, int64_t end_ns = 0) {
    size_t finding =
        Find("profile.exposed_communication", {}, 0.9, Severity::kWarning, Role::kObservation);
    auto row = Part::RowOf<ProfileBreakdownRow>({0, 0, 0, rank});
    row.exposed_communication_ns = exposed_ns;
    row.window_start_ns = begin_ns;
    row.window_end_ns = end_ns;
    model_.tables.Edit<ProfileBreakdownTable>().Add(row);
    findings_[finding].evidence.push_back({"row", "profile_breakdown", {0}});
    return finding;
  }

  size_t HostBound(int32_t rank) {
    size_t finding = Find("profile.host_bound", {}, 0.8, Severity::kInfo, Role::kObservation);
    auto row = Part::RowOf<ProfileIdleRow>({0, 0, 0, rank});
    model_.tables.Edit<ProfileIdleTable>().Add(row);
    findings_[finding].evidence.push_back({"row", "profile_idle", {0}});
    return finding;
  }
};

TEST_F(ProfileVerdictTest, WaitingForAStragglerIsItsConsequence) {
  size_t straggler = Straggler(4, "gpu", kSecond / 4);
  size_t exposed = Exposed(0, 2 * kSecond);
  size_t bound = HostBound(4);
  size_t costly = Find("accel.costliest_collective", {}, 0.8, Severity::kInfo, Role::kObservation);
  Board board = MakeBoard();
  StragglerExplainsWaiting(board);
  EXPECT_TRUE(Follows(exposed, straggler));
  EXPECT_TRUE(Follows(costly, straggler)) << "it is what the others wait in";
  EXPECT_FALSE(Follows(bound, straggler)) << "a busy GPU does not make it wait for its host";
}

TEST_F(ProfileVerdictTest, ASmallStragglerExplainsNoLargeWait) {
  size_t straggler = Straggler(4, "gpu", kSecond / 100);
  size_t exposed = Exposed(0, 2 * kSecond);
  size_t costly = Find("accel.costliest_collective", {}, 0.8, Severity::kInfo, Role::kObservation);
  Board board = MakeBoard();
  StragglerExplainsWaiting(board);
  EXPECT_FALSE(Follows(exposed, straggler));
  EXPECT_FALSE(Follows(costly, straggler));
}

TEST_F(ProfileVerdictTest, ASlowHostExplainsItsOwnIdleDevice) {
  size_t straggler = Straggler(6, "host", kSecond / 4);
  size_t bound = HostBound(6);
  Board board = MakeBoard();
  StragglerExplainsWaiting(board);
  EXPECT_TRUE(Follows(bound, straggler));
}

TEST_F(ProfileVerdictTest, CompilingInTheRecordingMakesLate) {
  size_t straggler = Straggler(6, "host", kSecond);
  Exposed(6, kSecond, 10 * kSecond, 20 * kSecond);
  size_t differs = Find("compile.rank_slow", {6}, 0.8, Severity::kWarning, Role::kObservation);
  Compiles(6, "aux", 12 * kSecond, 15 * kSecond);
  Board board = MakeBoard();
  CompilingMakesLate(board);
  EXPECT_TRUE(Follows(straggler, differs));
  EXPECT_EQ(findings_[differs].role, Role::kCause);
}

TEST_F(ProfileVerdictTest, CompilingBeforeTheRecordingDoesNot) {
  size_t straggler = Straggler(6, "host", kSecond);
  Exposed(6, kSecond, 10 * kSecond, 20 * kSecond);
  Find("compile.rank_slow", {6}, 0.8, Severity::kWarning, Role::kObservation);
  Compiles(6, "aux", 2 * kSecond, 9 * kSecond);
  Board board = MakeBoard();
  CompilingMakesLate(board);
  EXPECT_EQ(findings_[straggler].role, Role::kCause);
}

TEST_F(ProfileVerdictTest, ABreakExplainsSlowStepsOfItsTime) {
  size_t late = Find("flight.host_never_came", {3}, 0.9);
  WaitsIn(late, 7, 100 * kSecond);
  size_t during = Exposed(0, kSecond, 95 * kSecond, 105 * kSecond);
  size_t before = Find("profile.slow_step", {}, 0.9, Severity::kInfo, Role::kObservation);
  auto step = Part::RowOf<ProfileStepRow>({0, 0, 0, 0});
  step.start_ns = 50 * kSecond;
  step.duration_ns = kSecond;
  model_.tables.Edit<ProfileStepTable>().Add(step);
  findings_[before].evidence.push_back({"row", "profile_step", {0}});
  Board board = MakeBoard();
  BreakExplainsSlowSteps(board);
  EXPECT_TRUE(Follows(during, late));
  EXPECT_FALSE(Follows(before, late));
}

TEST_F(VerdictTest, AHoleOfTheBlamedRankFollows) {
  size_t exited = Find("text_hang.exited", {4}, 0.8);
  size_t own = Find("coverage.missing_input", {4}, 1, Severity::kWarning, Role::kObservation);
  size_t other = Find("coverage.missing_input", {5}, 1, Severity::kWarning, Role::kObservation);
  Board board = MakeBoard();
  BreakExplainsHoles(board);
  EXPECT_TRUE(Follows(own, exited));
  EXPECT_FALSE(Follows(other, exited));
}

TEST_F(VerdictTest, MissingDataIsToldAndLowers) {
  size_t late = Find("flight.host_never_came", {6}, 0.9);
  findings_[late].explains = {Find("flight.waiting", {0}, 1, Severity::kInfo, Role::kConsequence)};
  model_.tables.Edit<CommDumpTable>().Add(Part::RowOf<CommDumpRow>({0, 0, 0, 1}));
  model_.tables.Edit<TextEventTable>().Add(Part::RowOf<TextEventRow>({0, 0, 0, 1}));
  Board without = MakeBoard();
  MissingDataLowers(without);
  EXPECT_LT(findings_[late].confidence, 0.9);
  EXPECT_NE(findings_[late].why.find("no compile logs"), std::string::npos);
  EXPECT_EQ(findings_[late].why.find("no output"), std::string::npos);

  findings_[late].confidence = 0.9;
  model_.tables.Edit<CompileLogTable>().Add(Part::RowOf<CompileLogRow>({0, 0, 0, 1}));
  Board whole = MakeBoard();
  MissingDataLowers(whole);
  EXPECT_EQ(findings_[late].confidence, 0.9);
}

TEST_F(VerdictTest, ThePriceOfACauseFollowsFromIt) {
  size_t cause = Find("flight.host_never_came", {3}, 0.9);
  size_t price = Find("cost.fix_first", {3}, 0.9, Severity::kInfo, Role::kObservation);
  size_t other = Find("cost.fix_first", {3, 4}, 0.9, Severity::kInfo, Role::kObservation);
  Board board(model_, findings_, 0, 0);
  PriceOfCause(board);
  EXPECT_EQ(findings_[cause].explains, std::vector<size_t>{price});
  EXPECT_EQ(findings_[price].role, Role::kConsequence);
  EXPECT_EQ(findings_[other].role, Role::kObservation);
}

TEST_F(VerdictTest, AtMostThreeCausesTheSurestOfThem) {
  for (int i = 0; i < 5; ++i) Find("flight.size_mismatch", {i}, 0.5 + 0.1 * i);
  Board board = MakeBoard();
  AtMostThree(board);
  EXPECT_EQ(board.FindCauses().size(), 3u);
  EXPECT_EQ(findings_[0].role, Role::kObservation);
  EXPECT_EQ(findings_[1].role, Role::kObservation);
}

}  // namespace verdict_test
}  // namespace debrief::analyses::verdict
