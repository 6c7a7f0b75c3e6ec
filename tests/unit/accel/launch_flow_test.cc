#include "unit/accel/accel_fixture.h"

namespace debrief::accel {
namespace launch_flow_test {

class LaunchFlowTest : public AccelTest {
 protected:
  Event& Kernel(double ts, int64_t correlation, int64_t pid, uint32_t job) {
    Event& event = Slice("k", ts, 10, pid, job);
    event.cat = key::kKernel;
    Set(event, "correlation", Value::Integer(correlation));
    return event;
  }

  void Flow(char phase, double ts, int64_t id, int64_t pid, uint32_t job) {
    Event& event = Slice("ac2g", ts, 0, pid, job);
    event.phase = phase;
    event.cat = event.name;
    run_.args.Set(event, key::kId, Value::Integer(id), ArgPlace::kTop);
  }

  void RunPasses() {
    SortByTime(events_);
    LaunchFlowCollect(events_, run_);
    LaunchFlowCreateMissing(events_, run_);
  }
};

TEST_F(LaunchFlowTest, OnlyWhatIsMissingIsDrawn) {
  Flow('s', 0, 5, 100, 0);
  Kernel(20, 5, 0, 0);
  Kernel(40, 5, 0, 0);
  Flow('f', 20, 5, 0, 0);
  RunPasses();
  EXPECT_EQ(OfPhase('s').size(), 2u);
  const std::vector<Event> ends = OfPhase('f');
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[1].ts, 40);
}

TEST_F(LaunchFlowTest, RanksDoNotShareCorrelations) {
  const uint32_t other = AddJob("rank1.json", Dialect::kTorch);
  Flow('s', 0, 5, 100, 0);
  Flow('s', 1, 5, 200, other);
  Kernel(20, 5, 0, 0);
  Kernel(21, 5, 1, other);
  RunPasses();
  const std::vector<Event> starts = OfPhase('s');
  ASSERT_EQ(starts.size(), 4u);
  const std::vector<Event> ends = OfPhase('f');
  ASSERT_EQ(ends.size(), 2u);
  // Ends at rank 1's kernel, begins at rank 1's launch, under one id that nothing else has.
  EXPECT_EQ(ends[1].pid.integer, 1);
  EXPECT_EQ(starts[3].pid.integer, 200);
  EXPECT_EQ(starts[3].Find(key::kId, ArgPlace::kTop)->integer,
            ends[1].Find(key::kId, ArgPlace::kTop)->integer);
  EXPECT_GT(ends[1].Find(key::kId, ArgPlace::kTop)->integer, 5);
}

TEST_F(LaunchFlowTest, TheLastKernelLeadsToTheWaiter) {
  Event& wait = Slice("aiuScheduleWait", 5, 100, 100, 0);
  Set(wait, "correlation", Value::Integer(5));
  Kernel(20, 5, 0, 0);
  Kernel(40, 5, 0, 0);
  RunPasses();
  ASSERT_EQ(OfPhase('s').size(), 1u);
  EXPECT_NEAR(OfPhase('s')[0].ts, 49.999, 1e-9);
  EXPECT_EQ(OfPhase('f')[0].ts, 105);
}

}  // namespace launch_flow_test
}  // namespace debrief::accel
