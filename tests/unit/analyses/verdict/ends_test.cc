// Rules of the verdict about ends: who died, who is a victim, and that a failed job is never
// without an error.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyses/verdict/rules.h"
#include "tables/comm_dump.h"
#include "tables/comm_match.h"
#include "tables/comm_op.h"
#include "tables/text_event.h"
#if __has_include("tables/process_exit.h")
#include "tables/process_exit.h"
#endif

namespace debrief::analyses::verdict {
namespace verdict_ends_test {

constexpr int64_t kSecond = 1'000'000'000;

class EndsTest : public ::testing::Test {
 protected:
  size_t Find(std::string_view rule, std::vector<int32_t> ranks, double confidence = 0.8,
              Severity severity = Severity::kError, Role role = Role::kCause) {
    Finding& finding = findings_.emplace_back();
    finding.rule = rule;
    finding.ranks = std::move(ranks);
    finding.confidence = confidence;
    finding.severity = severity;
    finding.role = role;
    finding.job = finding.attempt = 0;
    finding.headline = rule;
    finding.evidence.push_back({"made by hand", "rank", {}});
    return findings_.size() - 1;
  }

  int64_t Says(int32_t rank, std::string_view kind, std::string_view text,
               int32_t exit_code = kNone32, int64_t time_ns = kNone64) {
    auto row = Part::RowOf<TextEventRow>({0, 0, 0, rank});
    row.line = ++line_;
    row.kind = model_.pools.Intern(kind);
    row.text = model_.pools.Intern(text);
    row.exit_code = exit_code;
    row.time_ns = time_ns;
    auto& events = model_.tables.Edit<TextEventTable>();
    events.Add(row);
    return static_cast<int64_t>(events.size()) - 1;
  }

  int64_t Op(int32_t rank, int64_t created_ns) {
    auto row = Part::RowOf<CommOpRow>({0, 0, 0, rank});
    row.created_ns = created_ns;
    row.timeout_ms = 10'000;
    auto& ops = model_.tables.Edit<CommOpTable>();
    ops.Add(row);
    return static_cast<int64_t>(ops.size()) - 1;
  }

  Board MakeBoard() { return Board(model_, findings_, 0, 0); }

  bool Follows(size_t effect, size_t cause) const {
    const auto& explains = findings_[cause].explains;
    return std::find(explains.begin(), explains.end(), effect) != explains.end() &&
           findings_[effect].role == Role::kConsequence;
  }

  Model model_;
  std::vector<Finding> findings_;
  int64_t line_ = 0;
};

TEST_F(EndsTest, AbortOfARankThatWaitsIsItsWatchdogs) {
  size_t died = Find("text_hang.died", {5}, 0.9);
  findings_[died].evidence = {{"exit", "text_event", {Says(5, "signal", "SIGABRT", -6)}}};
  size_t own = Find("text_hang.died", {3}, 0.9);
  findings_[own].evidence = {{"exit", "text_event", {Says(3, "signal", "SIGSEGV", -11)}}};
  Find("flight.waiting", {3, 5}, 1, Severity::kInfo, Role::kConsequence);
  Board board = MakeBoard();
  AbortedByWatchdog(board);
  EXPECT_EQ(findings_[died].role, Role::kObservation);
  EXPECT_EQ(findings_[died].severity, Severity::kInfo);
  EXPECT_EQ(findings_[own].role, Role::kCause) << "a fault is nobody's watchdog";
}

TEST_F(EndsTest, AnExceptionOfItsOwnIsNoWatchdogs) {
  size_t died = Find("text_hang.died", {5}, 0.9);
  findings_[died].evidence = {{"exit", "text_event", {Says(5, "exit", "exitcode: 1", 1)}}};
  Says(5, "traceback", "ValueError: bad batch");
  Find("flight.waiting", {5}, 1, Severity::kInfo, Role::kConsequence);
  Board board = MakeBoard();
  AbortedByWatchdog(board);
  EXPECT_EQ(findings_[died].role, Role::kCause);
}

TEST_F(EndsTest, ADeathExplainsWhatNamesNobody) {
  size_t died = Find("text_hang.died", {1}, 0.9);
  size_t dumps = Find("flight.no_dump", {}, 0.5);
  size_t waiting = Find("flight.waiting", {0}, 1, Severity::kInfo, Role::kConsequence);
  findings_[dumps].explains = {waiting};
  Board board = MakeBoard();
  DeathExplainsAbsence(board);
  EXPECT_TRUE(Follows(dumps, died));
  EXPECT_NE(findings_[died].headline.find("rank 0 waited"), std::string::npos)
      << findings_[died].headline;
}

// Rank 1 died as the others began to wait: that rank 2 had not come either follows from that. Had
// it died long after, it would not.
TEST_F(EndsTest, WhoDiesBeforeTheOthersWaitIsTheCause) {
  for (int64_t died_at : {101, 109}) {
    findings_.clear();
    size_t died = Find("text_hang.died", {1}, 0.8);
    findings_[died].evidence = {
        {"exit", "text_event", {Says(1, "exit", "", 1, died_at * kSecond)}}};
    size_t late = Find("flight.host_never_came", {2}, 0.9);
    findings_[late].evidence = {{"waits", "comm_op", {Op(0, 100 * kSecond)}}};
    Board board = MakeBoard();
    DeathExplainsAbsence(board);
    EXPECT_EQ(Follows(late, died), died_at == 101);
  }
}

TEST_F(EndsTest, WhatNamesNobodyFollowsFromWhatNamesARank) {
  size_t unnamed = Find("text_hang.ended", {}, 0.9);
  size_t named = Find("flight.host_never_came", {2}, 0.6);
  Board board = MakeBoard();
  NamedExplainsUnnamed(board);
  EXPECT_TRUE(Follows(unnamed, named));
}

TEST_F(EndsTest, APictureOfTheLivingJobNamesWhatDumpsDoNot) {
  size_t stands = Find("text_stacks.stands_apart", {2}, 0.7, Severity::kWarning);
  size_t unnamed = Find("flight.stopped_together", {}, 0.5);
  Board board = MakeBoard();
  NamedExplainsUnnamed(board);
  EXPECT_TRUE(Follows(unnamed, stands));
  EXPECT_EQ(findings_[stands].severity, Severity::kError);
}

TEST_F(EndsTest, DumpsThatShowOneCallRefuteText) {
  for (bool differs : {false, true}) {
    findings_.clear();
    CommMatchRow row;
    row.job = row.attempt = 0;
    row.group_name = model_.pools.Intern("0");
    row.kind = model_.pools.Intern("collective");
    row.seq = differs ? 99 : 98;
    row.joined = model_.pools.lists.Intern(std::vector<int64_t>{0, 1, 2});
    if (differs) row.mismatch = model_.pools.Intern("type");
    model_.tables.Edit<CommMatchTable>().Add(row);
    size_t text = Find("text_hang.differs", {0}, 0.6);
    findings_[text].groups = {{"0", "default_pg", {0, 1}}};
    findings_[text].seq = row.seq;
    Board board = MakeBoard();
    DumpsRefuteText(board);
    EXPECT_EQ(findings_[text].role, differs ? Role::kCause : Role::kObservation);
  }
}

TEST_F(EndsTest, AStragglerIsNoAnswerToAFailedJob) {
  Find("flight.gpu_or_network_hang", {}, 0.6);
  size_t late = Find("flight.straggler", {3}, 0.6, Severity::kWarning);
  Board board = MakeBoard();
  NamedExplainsUnnamed(board);
  EXPECT_EQ(findings_[late].role, Role::kObservation);
}

TEST_F(EndsTest, RanksThatStoppedTogetherAreNotSilent) {
  size_t stopped = Find("flight.stopped_together", {}, 0.5);
  findings_[stopped].evidence = {{"last", "comm_op", {Op(1, 0), Op(3, 0)}}};
  size_t silent = Find("text_hang.silent", {1, 3}, 0.75);
  size_t other = Find("text_hang.silent", {6}, 0.75);
  Board board = MakeBoard();
  StoppedTogetherAreNotSilent(board);
  EXPECT_TRUE(Follows(silent, stopped));
  EXPECT_EQ(findings_[other].role, Role::kCause);
}

TEST_F(EndsTest, AFailedJobHasAnError) {
  Says(3, "exit", "exitcode: -9", -9);
  size_t late = Find("flight.straggler", {0}, 0.6, Severity::kWarning);
  Board board = MakeBoard();
  NeverNothing(board);
  ASSERT_EQ(findings_.size(), 2u);
  EXPECT_EQ(findings_[1].rule, "verdict.job_failed");
  EXPECT_EQ(findings_[1].severity, Severity::kError);
  EXPECT_TRUE(findings_[1].ranks.empty());
  EXPECT_EQ(findings_[late].role, Role::kObservation);
}

TEST_F(EndsTest, AHealthyJobHasNone) {
  Says(0, "traceback", "ValueError: caught");
  Says(0, "heartbeat_lost", "Failed to check the \"should dump\" flag on TCPStore");
  Says(0, "exit", "exited with exit code 0", 0);
  Says(0, "exit", "Process 4000 exits successfully.");
  line_ += 1000;
  Says(0, "last_line", "done");
  Board board = MakeBoard();
  NeverNothing(board);
  EXPECT_TRUE(findings_.empty());
}

TEST_F(EndsTest, AStaleSignalExplainsEmptyDumps) {
  size_t stale = Find("text_hang.stale_signal", {}, 0.9);
  size_t empty = Find("flight.empty_dumps", {}, 1, Severity::kWarning);
  Board board = MakeBoard();
  StaleSignalExplainsDumps(board);
  EXPECT_TRUE(Follows(empty, stale));
}

// The error of the attempt before stands for both.
TEST_F(EndsTest, AnAttemptThatTheOneBeforeEndedNeedsNoErrorOfItsOwn) {
  Says(3, "exit", "exitcode: -6", -6);
  Find("text_hang.stale_signal", {}, 0.9, Severity::kError, Role::kConsequence);
  Board board = MakeBoard();
  NeverNothing(board);
  EXPECT_EQ(findings_.size(), 1u);
}

#if __has_include("tables/process_exit.h")
class ProcessExitTest : public EndsTest {
 protected:
  void Ends(int32_t rank, int32_t exit_code, std::string_view how = "own", bool first = false) {
    auto row = Part::RowOf<ProcessExitRow>({0, 0, 0, rank});
    row.exit_code = exit_code;
    row.how = model_.pools.Intern(how);
    row.said_by = model_.pools.Intern("torchrun");
    row.first = first;
    model_.tables.Edit<ProcessExitTable>().Add(row);
  }
  void Dump(int32_t rank) {
    model_.tables.Edit<CommDumpTable>().Add(Part::RowOf<CommDumpRow>({0, 0, 0, rank}));
  }
};

// Rank 5 left no dump, rank 6 did and was aborted by its watchdog.
TEST_F(ProcessExitTest, AnAbortWithoutADumpIsItsOwn) {
  Dump(6);
  Ends(5, -6, "own", true);
  Ends(6, 134);
  Ends(7, -15, "stopped");
  Board board = MakeBoard();
  EndedProcesses(board);
  ASSERT_EQ(findings_.size(), 1u);
  EXPECT_EQ(findings_[0].headline, "Rank 5 ended by SIGABRT (signal 6)");
  EXPECT_EQ(findings_[0].ranks, std::vector<int32_t>{5});
}

TEST_F(ProcessExitTest, TheFirstFailureOfALauncherMayBeAVictim) {
  for (int32_t rank = 0; rank < 8; ++rank) Dump(rank);
  Ends(5, -6, "own", true);
  Board board = MakeBoard();
  EndedProcesses(board);
  EXPECT_TRUE(findings_.empty());
}

TEST_F(ProcessExitTest, WhoLeavesWhileOthersWaitIsNamed) {
  Find("flight.waiting", {0, 1, 2}, 1, Severity::kInfo, Role::kConsequence);
  Ends(3, 0);
  Board board = MakeBoard();
  EndedProcesses(board);
  ASSERT_EQ(findings_.size(), 2u);
  EXPECT_EQ(findings_[1].ranks, std::vector<int32_t>{3});
  EXPECT_NE(findings_[1].headline.find("ended normally"), std::string::npos);
}

TEST_F(ProcessExitTest, AnExitAloneMakesAnError) {
  Ends(2, -11);
  Board board = MakeBoard();
  NeverNothing(board);
  ASSERT_EQ(findings_.size(), 1u);
  EXPECT_NE(findings_[0].headline.find("rank 2 ended by SIGSEGV"), std::string::npos);
}
#endif

}  // namespace verdict_ends_test
}  // namespace debrief::analyses::verdict
