// What outputs alone tell: rows of text_event made by hand, and the finding that comes first.
#include "analyses/text/hang/hang.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyses/schedule.h"
#include "tables/job.h"
#include "tables/rank.h"

namespace debrief::analyses::text_hang {

const Analysis& Describe();

namespace text_hang_test {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kStart = 100 * kSecond;

class TextHangTest : public ::testing::Test {
 protected:
  void SetUp() override {
    JobRow job;
    job.name = model_.pools.Intern("job");
    job.world_size = kRanks;
    model_.tables.Edit<JobTable>().Add(job);
    for (int32_t rank = 0; rank < kRanks; ++rank) {
      RankRow row;
      row.job = 0;
      row.attempt = 0;
      row.rank = rank;
      model_.tables.Edit<RankTable>().Add(row);
    }
  }

  TextEventRow& Say(int32_t rank, std::string_view kind, std::string_view text = "") {
    TextEventRow row = Part::RowOf<TextEventRow>({0, 0, 0, rank});
    row.input = rank;
    row.line = ++line_;
    row.kind = model_.pools.Intern(kind);
    row.text = model_.pools.Intern(text);
    return rows_.emplace_back(row);
  }

  // A work that ran into its limit of 10 s.
  void TimesOut(int32_t rank, std::string_view group, std::string_view op, int64_t seq,
                int64_t completed, int64_t elements = 512) {
    TextEventRow& row = Say(rank, "watchdog_timeout",
                            fmt::format("WorkNCCL(SeqNum={}, NumelIn={})", seq, elements));
    row.group_name = model_.pools.Intern(group);
    row.group_desc = model_.pools.Intern("mesh_dp");
    row.op = model_.pools.Intern(op);
    row.seq = seq;
    row.last_completed = completed;
    row.time_ns = kStart + 10 * kSecond;
    row.ran_ms = 10'000;
    row.timeout_ms = 10'000;
  }

  void Ends(int32_t rank, std::string_view text = "bye") { Say(rank, "last_line", text); }

  std::vector<Finding> Run() {
    for (const TextEventRow& row : rows_) model_.tables.Edit<TextEventTable>().Add(row);
    AnalysisResult result;
    EXPECT_TRUE(RunDeclared(Describe(), model_, result).ok());
    return std::move(result.findings);
  }

  static constexpr int32_t kRanks = 4;
  Model model_;
  std::vector<TextEventRow> rows_;
  int64_t line_ = 0;
};

TEST_F(TextHangTest, OutputsOfAHealthyJobSayNothing) {
  for (int32_t rank = 0; rank < kRanks; ++rank) Ends(rank);
  EXPECT_TRUE(Run().empty());
}

TEST_F(TextHangTest, TheSilentRankAndWhereItsPeerWaits) {
  TimesOut(0, "5", "ALLREDUCE", 21, 20);
  TimesOut(1, "5", "ALLREDUCE", 21, 20);
  TimesOut(3, "6", "ALLREDUCE", 16, 15);
  Ends(2);
  auto findings = Run();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, "text_hang.silent");
  EXPECT_EQ(findings[0].headline,
            "Rank 2 reported no timeout; ranks 0-1 and 3 timed out, first rank 3 in "
            "all_reduce #16 of mesh_dp")
      << "group 6 has one member that speaks, group 5 two";
  EXPECT_EQ(findings[1].rule, "text_hang.timeouts");
  EXPECT_EQ(findings[0].explains, std::vector<size_t>{1});
}

TEST_F(TextHangTest, ARankWithoutOutputIsLessSure) {
  for (int32_t rank : {0, 1, 3}) TimesOut(rank, "5", "ALLREDUCE", 21, 20);
  auto findings = Run();
  EXPECT_TRUE(findings[0].headline.starts_with("Rank 2 left no output;")) << findings[0].headline;
  EXPECT_LT(findings[0].confidence, 0.5);
}

TEST_F(TextHangTest, RanksWithoutOutputAreNotBlamedBesideOneThatIsSilent) {
  for (int32_t rank : {0, 1, 3}) TimesOut(rank, "5", "ALLREDUCE", 21, 20);
  Ends(2);
  RankRow more = Part::RowOf<RankRow>({0, 0, 0, 4});
  model_.tables.Edit<RankTable>().Add(more);
  EXPECT_EQ(Run()[0].ranks, std::vector<int32_t>{2});
}

TEST_F(TextHangTest, OutputsOfSomeRanksBlameNobody) {
  for (int32_t rank : {0, 1, 3}) TimesOut(rank, "5", "ALLREDUCE", 21, 20);
  for (int32_t rank : {4, 5}) {
    RankRow more = Part::RowOf<RankRow>({0, 0, 0, rank});
    model_.tables.Edit<RankTable>().Add(more);
  }
  auto findings = Run();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "text_hang.timeouts");
}

TEST_F(TextHangTest, ASilentRankThatTellsHowFarItCame) {
  for (int32_t rank : {0, 1, 3}) TimesOut(rank, "5", "ALLREDUCE", 16, 15);
  TextEventRow& row = Say(2, "dump_signal", "last enqueued NCCL work: 15");
  row.group_name = model_.pools.Intern("5");
  row.group_desc = model_.pools.Intern("mesh_dp");
  row.last_enqueued = 15;
  Ends(2);
  auto findings = Run();
  EXPECT_EQ(findings[0].headline,
            "Rank 2 did not join all_reduce #16 of mesh_dp (its last there is 15); ranks 0-1 and 3 "
            "timed out, rank 0 first");
  EXPECT_GT(findings[0].confidence, 0.65);
}

TEST_F(TextHangTest, HalfOfTheRanksSilentBlamesNobody) {
  for (int32_t rank : {0, 1}) TimesOut(rank, "5", "ALLREDUCE", 21, 20);
  for (int32_t rank : {2, 3}) Ends(rank);
  auto findings = Run();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_TRUE(findings[0].ranks.empty());
}

TEST_F(TextHangTest, AnotherOperationThanThoseOfItsPeersAndOtherGroups) {
  TimesOut(0, "5", "ALLREDUCE", 16, 15);
  TimesOut(1, "5", "ALLGATHER", 16, 15);
  TimesOut(2, "6", "ALLREDUCE", 21, 20);
  TimesOut(3, "6", "ALLREDUCE", 21, 20);
  auto findings = Run();
  EXPECT_EQ(findings[0].headline,
            "Rank 1 called all_gather as number 16 of mesh_dp where its peers called all_reduce");
  EXPECT_EQ(findings[0].ranks, std::vector<int32_t>{1});
}

TEST_F(TextHangTest, TwoThatDifferWithNothingToTellWhoIsRight) {
  TimesOut(0, "5", "ALLREDUCE", 16, 15, 512);
  TimesOut(1, "5", "ALLREDUCE", 16, 15, 256);
  TimesOut(2, "6", "BARRIER", 21, 20);
  TimesOut(3, "6", "BARRIER", 21, 20);
  auto findings = Run();
  EXPECT_EQ(findings[0].ranks, (std::vector<int32_t>{0, 1}));
  EXPECT_LE(findings[0].confidence, 0.5);
}

TEST_F(TextHangTest, TheMajorityOfAGroupIsRight) {
  for (int32_t rank : {0, 1, 3}) TimesOut(rank, "5", "ALLREDUCE", 16, 15, 512);
  TimesOut(2, "5", "ALLREDUCE", 16, 15, 256);
  EXPECT_EQ(Run()[0].ranks, std::vector<int32_t>{2});
}

TEST_F(TextHangTest, WhoCompletedWhatAnotherWaitsInCalledSomethingElse) {
  TimesOut(0, "5", "ALLREDUCE", 16, 15);
  TimesOut(1, "5", "ALLREDUCE", 17, 16);
  TimesOut(2, "6", "ALLREDUCE", 21, 20);
  TimesOut(3, "6", "ALLREDUCE", 21, 20);
  auto findings = Run();
  EXPECT_EQ(findings[0].rule, "text_hang.differs");
  EXPECT_EQ(findings[0].ranks, std::vector<int32_t>{1});
}

TEST_F(TextHangTest, TheRootOfABroadcastMayCompleteFirst) {
  TimesOut(0, "5", "BROADCAST", 16, 15);
  TimesOut(1, "5", "BROADCAST", 17, 16);
  TimesOut(2, "6", "BROADCAST", 21, 20);
  TimesOut(3, "6", "BROADCAST", 21, 20);
  auto findings = Run();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "text_hang.timeouts");
}

TEST_F(TextHangTest, ATracebackAtTheEndIsADeath) {
  for (int32_t rank : {0, 1, 3}) TimesOut(rank, "5", "ALLREDUCE", 21, 20);
  TextEventRow& row = Say(2, "traceback", "ValueError: bad batch");
  row.file = model_.pools.Intern("/home/user/train.py");
  row.file_line = 71;
  Ends(2, "ValueError: bad batch");
  auto findings = Run();
  EXPECT_EQ(findings[0].headline, "Rank 2 died with ValueError: bad batch at train.py:71");
  EXPECT_EQ(findings[0].source[0].line, 71);
}

TEST_F(TextHangTest, AnOutputThatEndsInsideOfATraceback) {
  TextEventRow& row = Say(2, "traceback", "  File \"train.py\", line 3");
  row.file = model_.pools.Intern("train.py");
  row.file_line = 3;
  Ends(2);
  EXPECT_EQ(Run()[0].headline,
            "Rank 2 died with an exception that its output no longer names, at train.py:3");
}

TEST_F(TextHangTest, ACaughtTracebackIsNone) {
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    Say(rank, "traceback", "ValueError: tried again");
    line_ += 5000;
    Ends(rank, "step 100");
  }
  EXPECT_TRUE(Run().empty());
}

TEST_F(TextHangTest, ATracebackThatComesAgainAndAgainIsCaught) {
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    for (int i = 0; i < 3; ++i) Say(rank, "traceback", "KeyError: 'rate'").times = 3;
    Ends(rank);
  }
  EXPECT_TRUE(Run().empty());
}

TEST_F(TextHangTest, WhoLogsAnExceptionAndRaisesItAgainDies) {
  for (int i = 0; i < 2; ++i) Say(2, "traceback", "KeyError: 'rate'");
  Ends(2);
  EXPECT_EQ(Run()[0].headline, "Rank 2 died with KeyError: 'rate'");
}

TEST_F(TextHangTest, GloosTimeoutIsATimeoutAndNoDeath) {
  for (int32_t rank : {0, 1, 3}) {
    Say(rank, "traceback",
        "RuntimeError: [unbound_buffer.cc:78] Timed out waiting 15000ms for recv operation to "
        "complete");
    Ends(rank);
  }
  Ends(2);
  auto findings = Run();
  EXPECT_EQ(findings[0].ranks, std::vector<int32_t>{2});
  EXPECT_EQ(findings.back().headline, "Ranks 0-1 and 3: gloo timeout, rank 0 first");
}

TEST_F(TextHangTest, ACheckpointNamesTheRankThatFailed) {
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    Say(rank, "traceback", "CheckpointException: CheckpointException ranks:dict_keys([3, 1])");
    Ends(rank);
  }
  EXPECT_EQ(Run()[0].ranks, (std::vector<int32_t>{1, 3}));
}

TEST_F(TextHangTest, ADeviceAssertIsCalledSo) {
  Say(2, "device_assert",
      "IndexKernel.cu:16: gather: block: [2,0,0], thread: [0,0,0] Assertion `i < n` failed.");
  Ends(2);
  EXPECT_EQ(Run()[0].headline, "Rank 2 died with a device-side assert: Assertion `i < n` failed.");
}

TEST_F(TextHangTest, AnExitCodeIsADeathAndTheEndByALauncherIsNone) {
  Say(1, "exit", "exitcode : 13").exit_code = 13;
  for (int32_t rank : {0, 2, 3}) Say(rank, "signal", "exitcode : -15").exit_code = -15;
  auto findings = Run();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].headline, "Rank 1 exited with code 13 and printed no error");
}

TEST_F(TextHangTest, AnErrorAboutAPeerIsNoDeath) {
  Say(0, "traceback", "torch.distributed.DistBackendError: NCCL communicator was aborted");
  Ends(0);
  auto findings = Run();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "text_hang.ended");
  EXPECT_TRUE(findings[0].ranks.empty());
}

TEST_F(TextHangTest, OutOfMemoryIsToldBeforeItsExitCode) {
  Say(1, "out_of_memory", "torch.OutOfMemoryError: CUDA out of memory.");
  Say(1, "exit", "exitcode : 1").exit_code = 1;
  Ends(1);
  EXPECT_EQ(Run()[0].headline,
            "Rank 1 died with OutOfMemoryError: CUDA out of memory (exit code 1)");
}

TEST_F(TextHangTest, ARankThatIsGoneWithoutAWord) {
  Say(1, "nccl_error", "ncclRemoteError: remote process exited").time_ns = kStart + kSecond;
  for (int32_t rank : {0, 1, 3}) {
    Say(rank, "dump_signal").time_ns = kStart + 2 * kSecond;
    TimesOut(rank, "5", "ALLREDUCE", 21, 20);
  }
  Say(2, "last_line", "starting").time_ns = kStart;
  auto findings = Run();
  EXPECT_EQ(findings[0].rule, "text_hang.exited");
  EXPECT_EQ(findings[0].ranks, std::vector<int32_t>{2});
  EXPECT_TRUE(findings[0].headline.starts_with(
      "Rank 2 exited at about 00:01:41 and printed no error; rank 1 lost its connection then"))
      << findings[0].headline;
}

TEST_F(TextHangTest, ARankThatSpeaksLaterIsNotGone) {
  Say(1, "nccl_error", "ncclRemoteError: remote process exited").time_ns = kStart + kSecond;
  for (int32_t rank : {0, 1, 3}) TimesOut(rank, "5", "ALLREDUCE", 21, 20);
  Say(2, "dump_signal").time_ns = kStart + 5 * kSecond;
  Ends(2);
  EXPECT_EQ(Run()[0].rule, "text_hang.silent");
}

TEST_F(TextHangTest, ALostConnectionAfterTheTimeLimitIsAnAftermath) {
  for (int32_t rank : {0, 1, 3}) TimesOut(rank, "5", "ALLREDUCE", 21, 20);
  Say(1, "nccl_error", "ncclRemoteError: remote process exited").time_ns = kStart + 30 * kSecond;
  Ends(2);
  EXPECT_EQ(Run()[0].rule, "text_hang.silent");
}

TEST_F(TextHangTest, TextOfNoRankIsNobodys) {
  TextEventRow& row = Say(kNone32, "traceback", "KeyError: 1");
  row.file = model_.pools.Intern("/home/user/train.py");
  row.file_line = 3;
  auto findings = Run();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].ranks.empty());
  EXPECT_EQ(findings[0].headline, "A process ended with KeyError: 1 at train.py:3");
}

}  // namespace text_hang_test
}  // namespace debrief::analyses::text_hang
