// The last stack of a rank that did not come: the headline names its line, unless that proves
// nothing.
#include <gtest/gtest.h>

#include "analyses/verdict/rules.h"
#include "inputs/stack_rows.h"
#include "tables/stack_dump.h"

namespace debrief::analyses::verdict {
namespace stacks_place_test {

const std::vector<StackFrame> kAllReduce = {
    {"torch/distributed/distributed_c10d.py", "all_reduce", 2806}, {"train.py", "step", 59}};
const std::vector<StackFrame> kLock = {{"train.py", "lock_index", 33}, {"train.py", "main", 83}};

class StacksPlaceTest : public ::testing::Test {
 protected:
  void Stack(int32_t rank, const std::vector<StackFrame>& frames) {
    ThreadStack stack;
    stack.rank = rank;
    stack.source = "faulthandler";
    stack.is_main = true;
    stack.frames = frames;
    inputs::AddStackRow({input_++, 0, 0, kNone32}, kNone64, stack, model_);
  }

  // The headline of a finding that blames rank 1 for not coming.
  std::string Headline() {
    Finding finding;
    finding.rule = "flight.host_never_came";
    finding.severity = Severity::kError;
    finding.role = Role::kCause;
    finding.ranks = {1};
    finding.job = finding.attempt = 0;
    finding.confidence = 0.8;
    finding.headline = "Rank 1 did not reach all_reduce 38; ranks 0 and 2 wait";
    std::vector<Finding> findings = {finding};
    Board board(model_, findings, 0, 0);
    StacksPlaceTheBlamed(board);
    return findings[0].headline;
  }

  Model model_;
  int32_t input_ = 0;
};

TEST_F(StacksPlaceTest, TheLineIsInTheHeadline) {
  Stack(0, kAllReduce);
  Stack(1, kAllReduce);  // it waited before, too
  Stack(1, kLock);
  EXPECT_EQ(Headline(),
            "Rank 1 was last seen in lock_index (train.py:33) and did not reach all_reduce 38; "
            "ranks 0 and 2 wait");
}

TEST_F(StacksPlaceTest, NobodyElseWaits) {
  Stack(0, {{"train.py", "load", 12}});
  Stack(1, kLock);
  EXPECT_EQ(Headline(), "Rank 1 did not reach all_reduce 38; ranks 0 and 2 wait");
}

TEST_F(StacksPlaceTest, AnotherRankStandsThere) {
  Stack(0, kAllReduce);
  Stack(1, kLock);
  Stack(2, kLock);
  EXPECT_EQ(Headline(), "Rank 1 did not reach all_reduce 38; ranks 0 and 2 wait");
}

TEST_F(StacksPlaceTest, ItWaitsItself) {
  Stack(0, kAllReduce);
  Stack(1, kAllReduce);
  EXPECT_EQ(Headline(), "Rank 1 did not reach all_reduce 38; ranks 0 and 2 wait");
}

}  // namespace stacks_place_test
}  // namespace debrief::analyses::verdict
