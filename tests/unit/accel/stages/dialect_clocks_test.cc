// Traces of Flex and of PyTorch of one rank: on one clock, from kernels or from causality.
#include "unit/accel/accel_fixture.h"

namespace debrief::accel {
namespace dialect_clocks_test {

class DialectClocks : public AccelTest {
 protected:
  DialectClocks() { torch_ = AddJob("torch.pt.trace.json", Dialect::kTorch); }

  void Call(std::string_view name, double ts, double dur) {
    Event& event = Slice(name, ts, dur, 0, torch_);
    event.cat = run_.Intern("cuda_runtime");
    run_.args.Set(event, key::kRank, Value::Integer(0));
  }

  // Five launches whose work lies 1 s earlier, on the clock of Flex.
  void RecordJob(double flex_behind) {
    for (int i = 0; i < 5; ++i) {
      const double at = 2e6 + 1000.0 * i * i;
      Call("aiuLaunchComputeStream", at, 4);
      Call("aiuScheduleWait", at + 10, 200);
      DeviceSlice("a Cmpt Exec", at + 5 - flex_behind, 200);
    }
  }

  double FirstWork() { return Named("a Cmpt Exec")[0].ts; }

  uint32_t torch_ = 0;
};

TEST_F(DialectClocks, LaunchesAndWaitsGiveTheOffset) {
  RecordJob(1e6);
  AlignDialects(events_, run_);
  EXPECT_NEAR(FirstWork(), 2e6 + 5, 6);
  EXPECT_TRUE(
      console_.Has("to the clock of the PyTorch trace from 5 launches and 5 waits, "
                   "residual at most 5.500 us"));
}

TEST_F(DialectClocks, ClocksThatAgreeStay) {
  RecordJob(0);
  AlignDialects(events_, run_);
  EXPECT_DOUBLE_EQ(FirstWork(), 2e6 + 5);
  EXPECT_TRUE(console_.Has("the clocks of the Flex and the PyTorch trace agree"));
}

TEST_F(DialectClocks, NothingToCompareIsSaid) {
  DeviceSlice("a Cmpt Exec", 100, 50);
  Slice("aten::mm", 5000, 10, 0, torch_).cat = key::kCpuOp;
  AlignDialects(events_, run_);
  EXPECT_DOUBLE_EQ(FirstWork(), 100);
  EXPECT_TRUE(
      console_.Has("stay on two clocks: the two have no kernels in common, and the PyTorch "
                   "trace shows no launches"));
}

TEST_F(DialectClocks, WorkThatFitsNoLaunchIsSaid) {
  Call("aiuLaunchComputeStream", 1000, 4);
  Call("aiuScheduleWait", 1010, 20);
  DeviceSlice("a Cmpt Exec", 100, 5000);
  AlignDialects(events_, run_);
  EXPECT_DOUBLE_EQ(FirstWork(), 100);
  EXPECT_TRUE(console_.Has("stay on two clocks"));
}

TEST_F(DialectClocks, TheSameKernelsAreMatched) {
  for (int i = 0; i < 5; ++i) {
    const double at = 2e6 + 1000.0 * i * i;
    DeviceSlice("a Cmpt Exec", at - 1e6, 200);
    Event& kernel = Slice("a", at, 200, 0, torch_);
    kernel.cat = key::kKernel;
    run_.args.Set(kernel, key::kRank, Value::Integer(0));
  }
  AlignDialects(events_, run_);
  EXPECT_DOUBLE_EQ(FirstWork(), 2e6);
  EXPECT_TRUE(console_.Has("5 kernels matched, median residual 0.000 us"));
}

}  // namespace dialect_clocks_test
}  // namespace debrief::accel
