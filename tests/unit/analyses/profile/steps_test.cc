// Steps of host and device together, and the one that is odd.
#include <gtest/gtest.h>

#include "tables/profile_step.h"
#include "tables/profile_step_stats.h"
#include "unit/analyses/profile/fixture.h"

namespace debrief::analyses::profile_steps {

const Analysis& Describe();

namespace profile_steps_test {

using timeline::kKernel;
using timeline::kOp;

constexpr int64_t kMs = 1'000'000;

TEST(ProfileSteps, ADeviceMayEndAStepLater) {
  TimelineFixture fixture;
  const int32_t stream = fixture.AddStream(7);
  fixture.AddSlice(stream, {"gemm", kKernel, 50, 80});
  fixture.AddSlice(stream, {"ncclKernel", kKernel, 150, 20});
  Model model = fixture.Build();
  AddStep(model, 0, {0, 100}, 130);
  AddStep(model, 1, {100, 200}, 170);
  for (auto& whole : model.tables.Edit<TimelineStepTable>().whole) whole = 1;
  RunAnalysis(Describe(), model);
  const auto& rows = model.tables.Get<ProfileStepTable>();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.duration_ns[0], 130);
  EXPECT_EQ(rows.compute_ns[0], 80);
  EXPECT_EQ(rows.idle_ns[0], 50);
  EXPECT_EQ(rows.start_ns[1], 130);
  EXPECT_EQ(rows.duration_ns[1], 70);
  EXPECT_EQ(rows.exposed_communication_ns[1], 20);
  const auto& stats = model.tables.Get<ProfileStepStatsTable>();
  EXPECT_EQ(model.pools.Text(stats.figure[1]), "duration_ns");
  EXPECT_DOUBLE_EQ(stats.median[1], 100);
  EXPECT_EQ(stats.steps[1], 2);
}

// Steps of `times` ms; the device computes for 5 ms of each.
std::vector<Finding> FindingsOf(const std::vector<int64_t>& times) {
  TimelineFixture fixture;
  const int32_t stream = fixture.AddStream(7);
  int64_t start = 0;
  for (int64_t time : times) {
    fixture.AddSlice(stream, {"gemm", kKernel, start, 5 * kMs});
    start += time * kMs;
  }
  Model model = fixture.Build();
  start = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    AddStep(model, static_cast<int32_t>(i), {start, start + times[i] * kMs});
    start += times[i] * kMs;
  }
  for (auto& whole : model.tables.Edit<TimelineStepTable>().whole) whole = 1;
  return RunAnalysis(Describe(), model);
}

TEST(ProfileSteps, OneSlowStepAndWhatGrew) {
  const std::vector<Finding> findings = FindingsOf({10, 11, 10, 30, 10, 10});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "profile.slow_step");
  EXPECT_EQ(
      findings[0].headline,
      "Step 3 took 30.0 ms on rank 0, 3.0 x the median: 20.0 ms more idle time of the device");
}

TEST(ProfileSteps, StepsThatVaryAnywayAreNotSlow) {
  EXPECT_TRUE(FindingsOf({10, 20, 13, 28, 16, 30}).empty());
  EXPECT_TRUE(FindingsOf({10, 10, 10, 11, 10}).empty());
  EXPECT_TRUE(FindingsOf({10, 30, 10}).empty());  // too few to know what is usual
}

TEST(ProfileSteps, WithoutADeviceNothingIsSaidAboutIt) {
  TimelineFixture fixture;
  fixture.AddSlice(fixture.AddThread(), {"aten::mm", kOp, 0, 100});
  Model model = fixture.Build();
  AddStep(model, 0, {0, 100}, kNone64, 0);
  RunAnalysis(Describe(), model);
  const auto& rows = model.tables.Get<ProfileStepTable>();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.duration_ns[0], 100);
  EXPECT_EQ(rows.idle_ns[0], kNone64);
}

}  // namespace profile_steps_test
}  // namespace debrief::analyses::profile_steps
