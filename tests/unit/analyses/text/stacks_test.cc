// Who stands alone: stacks as faulthandler prints them, dump after dump; and how they meet what
// dumps and outputs say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyses/analysis.h"
#include "analyses/verdict/rules.h"
#include "inputs/stack_rows.h"
#include "tables/stack_dump.h"

namespace debrief::analyses {

namespace text_stacks {
const Analysis& Describe();
}

namespace text_stacks_test {

const std::vector<StackFrame> kWaits = {
    {"torch/distributed/distributed_c10d.py", "all_reduce", 2806}, {"train.py", "step", 59}};
const std::vector<StackFrame> kLoads = {{"torch/utils/data/dataloader.py", "__next__", 630},
                                        {"train.py", "epoch", 45}};
const std::vector<StackFrame> kImports = {{"<frozen importlib._bootstrap>", "_find_and_load", 1},
                                          {"train.py", "<module>", 3}};

std::vector<StackFrame> At(int32_t line) { return {{"train.py", "step", line}}; }

class TextStacksTest : public ::testing::Test {
 protected:
  using Dump = std::vector<std::vector<StackFrame>>;  // by rank

  void Add(const Dump& dump, std::string_view source = "torch_debug") {
    for (size_t rank = 0; rank < dump.size(); ++rank) {
      ThreadStack stack;
      stack.rank = static_cast<int32_t>(rank);
      stack.source = source;
      stack.is_main = true;
      stack.frames = dump[rank];
      if (dump[rank].empty()) stack.error = "408";
      inputs::AddStackRow({input_, 0, 0, kNone32}, kNone64, stack, model_);
    }
    ++input_;
  }

  void Run() {
    AnalysisResult result;
    ASSERT_TRUE(text_stacks::Describe().run(model_, result).ok());
    findings_ = std::move(result.findings);
  }

  std::string First() {
    Run();
    if (findings_.empty()) return "";
    return fmt::format("{}: {}", SeverityName(findings_[0].severity), findings_[0].headline);
  }

  Model model_;
  std::vector<Finding> findings_;
  int32_t input_ = 0;
};

TEST_F(TextStacksTest, OneWorksWhileTheOthersWait) {
  for (int i = 0; i < 3; ++i) Add({kWaits, kWaits, kLoads, kWaits});
  EXPECT_EQ(First(),
            "error: Rank 2 is in the data loader (epoch, train.py:45); the other 3 wait in "
            "all_reduce (train.py:59)");
  EXPECT_EQ(findings_[0].ranks, std::vector<int32_t>{2});
  EXPECT_EQ(findings_[0].source[0].line, 45);
}

TEST_F(TextStacksTest, OneDumpIsNoProof) {
  Add({kWaits, kWaits, kLoads, kWaits});
  EXPECT_TRUE(First().starts_with("warning: Rank 2"));
}

TEST_F(TextStacksTest, WhoAsksTwiceHasAReason) {
  for (int i = 0; i < 2; ++i) Add({kWaits, kWaits, kLoads, kWaits}, "py_spy");
  EXPECT_TRUE(First().starts_with("error: Rank 2"));
}

TEST_F(TextStacksTest, AlwaysInTheSameLineMayBeHealthy) {
  for (int i = 0; i < 4; ++i) Add({At(59), At(59), At(41), At(59)});
  EXPECT_TRUE(First().starts_with("warning: Rank 2"));
}

TEST_F(TextStacksTest, WhoWaitsForItsDeviceIsNoSuspect) {
  const std::vector<StackFrame> syncs = {{"torch/cuda/__init__.py", "synchronize", 1},
                                         {"train.py", "run", 90}};
  for (int i = 0; i < 3; ++i) Add({syncs, At(59), At(59), At(59)});
  EXPECT_EQ(First(), "");
}

TEST_F(TextStacksTest, ACrashIsNoPictureOfAWait) {
  Add({kWaits, kWaits, kLoads, kWaits}, "faulthandler");
  ThreadStack crash;
  crash.rank = 0;
  crash.is_main = true;
  crash.source = "faulthandler";
  crash.reason = "Fatal Python error: Aborted";
  crash.frames = At(99);
  inputs::AddStackRow({input_, 0, 0, kNone32}, kNone64, crash, model_);
  EXPECT_TRUE(First().starts_with("warning: Rank 2"));
}

TEST_F(TextStacksTest, LaunchersAndWorkersAreNoRanks) {
  for (int i = 0; i < 3; ++i) {
    Add({kWaits,
         kWaits,
         {{"torch/utils/data/_utils/worker.py", "_worker_loop", 1}, {"train.py", "<module>", 9}}});
  }
  EXPECT_TRUE(First().starts_with("info: All 2 processes wait"));
}

TEST_F(TextStacksTest, WaitsInsideOfC) {
  Add({At(59), At(59), At(60), At(60)});
  for (int i = 0; i < 3; ++i) Add({At(59), At(59), At(41), At(59)});
  EXPECT_EQ(First(),
            "error: Rank 2 is in step (train.py:41); the other 3 wait in step (train.py:59)");
}

TEST_F(TextStacksTest, WhoMovesIsNotStuck) {
  for (int i = 0; i < 3; ++i) Add({kWaits, kWaits, At(10 + i), kWaits});
  EXPECT_EQ(First(), "");
}

TEST_F(TextStacksTest, WhereAllMoveTheJobRuns) {
  for (int i = 0; i < 3; ++i) Add({At(i), At(10 + i), At(20 + i), At(30 + i)});
  EXPECT_EQ(First(), "");
}

TEST_F(TextStacksTest, AllInOnePlaceBlamesNobody) {
  for (int i = 0; i < 3; ++i) Add({kWaits, kWaits, kWaits});
  EXPECT_EQ(First(), "info: All 3 processes wait in all_reduce (train.py:59); no rank differs");
  EXPECT_TRUE(findings_[0].ranks.empty());
}

TEST_F(TextStacksTest, NoAnswerIsEvidence) {
  for (int i = 0; i < 3; ++i) Add({kWaits, {}, kWaits, kWaits});
  EXPECT_TRUE(First().starts_with("error: Rank 1 does not answer (408"));
}

TEST_F(TextStacksTest, StartingUpIsSlowUnlessItStays) {
  Add({kWaits, kImports, kWaits, kWaits});
  EXPECT_EQ(First(), "");
  Add({kWaits, kImports, kWaits, kWaits});
  EXPECT_TRUE(First().starts_with("warning: Rank 1 is importing modules"));
}

TEST_F(TextStacksTest, HalfAgainstHalfBlamesNobody) {
  for (int i = 0; i < 3; ++i) Add({At(59), At(59), At(41), At(41)});
  EXPECT_EQ(First(), "");
}

class StacksDecideTest : public TextStacksTest {
 protected:
  size_t Find(std::string_view rule, std::vector<int32_t> ranks, std::string headline = "x") {
    Finding& finding = findings_.emplace_back();
    finding.rule = rule;
    finding.ranks = std::move(ranks);
    finding.severity = Severity::kError;
    finding.role = Role::kCause;
    finding.confidence = 0.9;
    finding.job = 0;
    finding.attempt = 0;
    finding.headline = std::move(headline);
    return findings_.size() - 1;
  }

  void Decide() {
    verdict::Board board(model_, findings_, 0, 0);
    verdict::StacksDecide(board);
  }
};

TEST_F(StacksDecideTest, DumpsNameTheCollectiveAndStacksTheLine) {
  Add({kWaits, kWaits, kLoads, kWaits});
  Run();
  size_t flight = Find("flight.host_never_came", {2});
  findings_[flight].op = "all_reduce";
  findings_[flight].seq = 38;
  Decide();
  EXPECT_EQ(
      findings_[0].headline,
      "Rank 2 is in the data loader (epoch, train.py:45); the other 3 wait in all_reduce #38");
  EXPECT_EQ(findings_[0].severity, Severity::kError);
  EXPECT_EQ(findings_[flight].role, Role::kConsequence);
  EXPECT_GT(findings_[0].confidence, 0.9);  // surer than either
}

TEST_F(StacksDecideTest, WhoWaitsByItsStackIsNotToBlame) {
  for (int i = 0; i < 3; ++i) Add({kWaits, kWaits, kLoads, kWaits});
  Run();
  size_t absent = Find("flight.host_never_came", {1});
  size_t aborted = Find("text_hang.died", {3}, "Rank 3 was killed by signal 6");
  Decide();
  EXPECT_EQ(findings_[0].role, Role::kCause);
  EXPECT_EQ(findings_[absent].role, Role::kObservation);
  EXPECT_EQ(findings_[aborted].role, Role::kObservation);
}

TEST_F(StacksDecideTest, ADeathOfItsOwnStays) {
  Add({kWaits, kWaits, kLoads, kWaits});
  Run();
  size_t died = Find("text_hang.died", {1}, "Rank 1 died: out of memory");
  Decide();
  EXPECT_EQ(findings_[died].role, Role::kCause);
  EXPECT_EQ(findings_[0].severity, Severity::kWarning);
}

TEST_F(StacksDecideTest, AStragglerIsNoCauseOfAHang) {
  for (int i = 0; i < 3; ++i) Add({kWaits, kWaits, kLoads, kWaits});
  Run();
  findings_[Find("flight.straggler", {2})].severity = Severity::kWarning;
  Decide();
  EXPECT_EQ(findings_[0].role, Role::kCause);
}

TEST_F(StacksDecideTest, AMismatchExplainsTheStack) {
  Add({kWaits, kWaits, kLoads, kWaits});
  Run();
  size_t mismatch = Find("flight.size_mismatch", {2});
  Decide();
  EXPECT_EQ(findings_[mismatch].role, Role::kCause);
  EXPECT_EQ(findings_[0].role, Role::kConsequence);
}

}  // namespace text_stacks_test
}  // namespace debrief::analyses
