// Delays and queues of launches, graphs among them.
#include "analyses/profile/launches/launches.h"

#include <gtest/gtest.h>

#include "tables/profile_launch_stats.h"
#include "tables/profile_queue.h"
#include "unit/analyses/profile/fixture.h"

namespace debrief::analyses::profile_launches {

const Analysis& Describe();

namespace profile_launches_test {

using timeline::kKernel;
using timeline::kRuntime;

constexpr int64_t kUs = 1000;

TEST(ProfileLaunches, DelaysShortWorkAndOutliers) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread(), stream = fixture.AddStream(7);
  auto launch = [&](int64_t id, int64_t call, int64_t call_time, int64_t start, int64_t time) {
    fixture.AddSlice(thread, {"cudaLaunchKernel", kRuntime, call * kUs, call_time * kUs, id,
                              kNone64, "cuda_runtime"});
    fixture.AddSlice(stream, {"k", kKernel, start * kUs, time * kUs, id, kNone64, "kernel"});
  };
  launch(1, 0, 10, 5, 20);       // began before the call ended: no delay
  launch(2, 100, 10, 120, 5);    // shorter than its call
  launch(3, 200, 60, 400, 100);  // slow call, slow start
  fixture.AddSlice(stream, {"lost", kKernel, 600 * kUs, kUs});
  Model model = fixture.Build();
  LinkByCorrelation(model);
  RunAnalysis(Describe(), model);
  const auto& rows = model.tables.Get<ProfileLaunchStatsTable>();
  ASSERT_EQ(rows.size(), 2u);
  for (size_t row : {0u, 1u}) {
    EXPECT_EQ(rows.launches[row], 3);
    EXPECT_EQ(rows.short_works[row], 1);
    EXPECT_EQ(rows.slow_calls[row], 1);
    EXPECT_EQ(rows.slow_starts[row], 1);
    EXPECT_DOUBLE_EQ(rows.mean_delay_ns[row], 50.0 * kUs);
  }
  EXPECT_DOUBLE_EQ(rows.median_delay_ns[0], 10.0 * kUs);
  EXPECT_EQ(rows.max_delay_ns[0], 140 * kUs);
  EXPECT_EQ(rows.unlinked[0], 1);
}

TEST(ProfileLaunches, AGraphIsOneLaunchOnEachOfItsStreams) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread();
  const int32_t a = fixture.AddStream(7), b = fixture.AddStream(8);
  fixture.AddSlice(thread, {"cudaGraphLaunch", kRuntime, 0, 10, 1});
  fixture.AddSlice(a, {"k1", kKernel, 20, 10, 1});
  fixture.AddSlice(a, {"k2", kKernel, 40, 10, 1});
  fixture.AddSlice(b, {"k3", kKernel, 15, 10, 1});
  Model model = fixture.Build();
  LinkByCorrelation(model);
  const Launches launches = LaunchesOf(timeline::Timelines(model).front());
  ASSERT_EQ(launches.launches.size(), 2u);
  EXPECT_EQ(launches.launches[0].work_time, 20);
  RunAnalysis(Describe(), model);
  EXPECT_EQ(model.tables.Get<ProfileLaunchStatsTable>().launches[0], 1);
  EXPECT_EQ(model.tables.Get<ProfileLaunchStatsTable>().max_delay_ns[0], 5);
}

TEST(ProfileLaunches, QueueIsNeverNegative) {
  const std::vector<Launch> launches = {
      {.call = 0, .device = 0, .stream = 7, .call_start = 10, .call_end = 12, .work_start = 5},
      {.call = 1, .device = 0, .stream = 7, .call_start = 20, .call_end = 22, .work_start = 50},
      {.call = 2, .device = 0, .stream = 7, .call_start = 30, .call_end = 32, .work_start = 60}};
  const std::vector<Queue> queues = QueuesOf(launches);
  ASSERT_EQ(queues.size(), 1u);
  EXPECT_EQ(queues[0].launches, 3);
  EXPECT_EQ(queues[0].max_depth, 2);
  EXPECT_EQ(queues[0].span, 50);
  EXPECT_DOUBLE_EQ(queues[0].depth_time, 10 + 2 * 20 + 10);
  EXPECT_EQ(queues[0].full_time, 0);
}

TEST(ProfileLaunches, AFullQueueIsTimed) {
  std::vector<Launch> launches;
  for (int32_t i = 0; i < 1024; ++i)
    launches.push_back(
        {.call = i, .device = 0, .stream = 7, .call_start = i, .call_end = i, .work_start = 2000});
  EXPECT_EQ(QueuesOf(launches)[0].full_time, 2000 - 1023);
}

}  // namespace profile_launches_test
}  // namespace debrief::analyses::profile_launches
