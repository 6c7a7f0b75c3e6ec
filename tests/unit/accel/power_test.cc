#include "unit/accel/accel_fixture.h"

namespace debrief::accel {
namespace power_test {

class PowerTest : public AccelTest {
 protected:
  void Sample(std::string_view name, double ts, double dur, int64_t charge, int64_t pid = 0) {
    Set(DeviceSlice(name, ts, dur, pid), "Power", Value::DecimalText(charge));
  }

  void RunPasses() {
    ExtractPowerEvent(events_, run_);
    SortPowerEvents(events_, run_);
    ComputePower(events_, run_);
  }

  std::vector<double> Watts() {
    std::vector<double> watts;
    for (const Event& event : Named("Power")) {
      watts.push_back(*event.Find(key::kWatts)->value().AsNumber(run_.strings));
    }
    return watts;
  }
};

// 512 / 12 of charge in a microsecond are a watt.
TEST_F(PowerTest, ChargeOverTimeIsPower) {
  Sample("a Cmpt Exec", 0, 100, 1000);
  Sample("b Cmpt Exec", 200, 100, 1000 + 512 * 100 / 12 * 20);
  RunPasses();
  const std::vector<double> watts = Watts();
  ASSERT_EQ(watts.size(), 2u);
  EXPECT_NEAR(watts[0], 10, 0.01);
  EXPECT_EQ(watts[1], 0);  // nothing is known behind the last sample
  EXPECT_EQ(Named("Power")[0].ts, 100);
}

TEST_F(PowerTest, TheCounterWraps) {
  Sample("a Cmpt Exec", 0, 100, (int64_t{1} << 32) - 1000);
  Sample("b Cmpt Exec", 200, 100, 7533);
  RunPasses();
  EXPECT_NEAR(Watts()[0], 12.0 * 8533 / 512 / 200, 1e-9);
}

TEST_F(PowerTest, EqualChargesAreNoPower) {
  Sample("a Cmpt Exec", 0, 100, 1000);
  Sample("b Cmpt Exec", 200, 100, 1000);
  RunPasses();
  EXPECT_EQ(Watts()[0], 0);
  EXPECT_FALSE(console_.Has("bad power"));
}

TEST_F(PowerTest, MoreThanAHundredWattsIsABrokenSample) {
  Sample("a Cmpt Exec", 0, 100, 1000);
  Sample("b Cmpt Exec", 200, 100, 10'000'000);
  RunPasses();
  EXPECT_EQ(Watts()[0], 0);
  EXPECT_TRUE(console_.Has("1 bad power events"));
}

TEST_F(PowerTest, RanksHaveCountersOfTheirOwn) {
  Sample("a Cmpt Exec", 0, 100, 1000, 0);
  Sample("a Cmpt Exec", 50, 100, 500'000'000, 1);
  Sample("b Cmpt Exec", 200, 100, 9533, 0);
  Sample("b Cmpt Exec", 250, 100, 500'008'533, 1);
  RunPasses();
  for (const Event& event : Named("Power")) {
    EXPECT_LT(*event.Find(key::kWatts)->value().AsNumber(run_.strings), 2);
  }
  EXPECT_FALSE(console_.Has("bad power"));
}

TEST_F(PowerTest, StatisticsAreOfEachRankAndInMilliseconds) {
  Sample("a Cmpt Exec", 0, 100, 1000, 0);
  Sample("b Cmpt Exec", 1100, 1000, 86'333, 0);
  Sample("a Cmpt Exec", 0, 100, 1000, 1);
  Sample("b Cmpt Exec", 1100, 1000, 171'667, 1);
  RunPasses();
  AnalyzePowerStatistics(events_, run_);
  EXPECT_TRUE(console_.Has("rank 0: Power with kernels: min_non_zero=1.00W"));
  EXPECT_TRUE(console_.Has("rank 1: Power with kernels: min_non_zero=2.00W"));
  EXPECT_TRUE(console_.Has("dur_total=1.00ms"));
}

}  // namespace power_test
}  // namespace debrief::accel
