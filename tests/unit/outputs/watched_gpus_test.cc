#include "outputs/report/html/timeline/watched_gpus.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "tables/gpu_health.h"
#include "tables/host_sample.h"

namespace debrief::outputs::html {

namespace watched_gpus_test {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kStart = int64_t{1'700'000'000} * kSecond;

class WatchedGpusTest : public ::testing::Test {
 protected:
  void Add(std::string_view host, int32_t gpu, std::string_view metric, int64_t seconds,
           double value) {
    HostSampleRow row;
    row.job = row.attempt = row.input = 0;
    row.host = host.empty() ? StringId::kNone : model_.pools.Intern(host);
    row.gpu = gpu;
    row.time_ns = kStart + seconds * kSecond;
    row.metric = model_.pools.Intern(metric);
    row.value = value;
    model_.tables.Edit<HostSampleTable>().Add(row);
  }

  void AddHealth(std::string_view host, int32_t gpu, int32_t rank) {
    GpuHealthRow row;
    row.job = row.attempt = 0;
    row.rank = rank;
    row.host = model_.pools.Intern(host);
    row.gpu = gpu;
    model_.tables.Edit<GpuHealthTable>().Add(row);
  }

  std::vector<WatchedGpu> Gpus(TimeSpan job = {}) { return WatchedGpus(model_, job); }

  Model model_;
};

// nvidia-smi writes all metrics of all GPUs at one time, then those of the next.
TEST_F(WatchedGpusTest, SamplesThatAlternate) {
  for (int64_t second = 0; second < 3; ++second) {
    for (int32_t gpu = 0; gpu < 2; ++gpu) {
      Add("n1", gpu, "power", second, 300);
      Add("n1", gpu, "sm_clock", second, 1980);
      Add("n1", gpu, "memory_total", second, 80e9);
    }
  }
  AddHealth("n1", 0, 6);
  AddHealth("n1", 1, 7);
  const auto gpus = Gpus();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[1].who.rank, 7);
  EXPECT_EQ(gpus[1].number, 1);
  ASSERT_EQ(gpus[1].metrics.size(), 2u) << "totals are not shown";
  EXPECT_EQ(gpus[1].metrics[0].known, 0u) << "the clock first";
  EXPECT_EQ(gpus[1].metrics[0].rows.size(), 3u);
  EXPECT_EQ(gpus[1].points(), 6u);
}

TEST_F(WatchedGpusTest, OfLongExportsThePartNearTheJob) {
  for (int64_t second = -86400; second <= 86400; second += 60) Add("n1", 0, "power", second, 300);
  const TimeSpan job = {kStart, kStart + 400 * kSecond};
  EXPECT_EQ(Gpus(job)[0].points(), 10u) << "a quarter of the job on both sides";
  EXPECT_EQ(Gpus()[0].points(), 2881u);
  const TimeSpan elsewhere = {kStart + 1'000'000 * kSecond, kStart + 1'000'400 * kSecond};
  EXPECT_EQ(Gpus(elsewhere)[0].points(), 2881u) << "clocks that cannot be compared";
  EXPECT_EQ(Gpus({0, INT64_MAX})[0].points(), 2881u);
}

TEST_F(WatchedGpusTest, ReasonsAndFaults) {
  const double bits[] = {0, 0x4, 0x4, 0x40, 0x1, 0x20};
  for (int64_t i = 0; i < 6; ++i) Add("n1", 0, "throttle_reasons", 10 * i, bits[i]);
  const double xids[] = {13, 13, 79, 0, 1e300, -5};
  for (int64_t i = 0; i < 6; ++i) Add("n1", 0, "xid", 10 * i, xids[i]);
  Add("n1", 0, "ecc_uncorrected", 0, 0);
  const auto gpus = Gpus();
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_TRUE(gpus[0].metrics.empty()) << "counts that stay 0 are not shown";
  std::vector<std::pair<int64_t, int64_t>> events;
  for (const GpuEvent& event : gpus[0].events)
    events.emplace_back(event.code, (event.end_ns - event.start_ns) / kSecond);
  EXPECT_EQ(events,
            (std::vector<std::pair<int64_t, int64_t>>{{4, 20}, {0x60, 10}, {0x60, 0}, {79, 0}}));
}

TEST_F(WatchedGpusTest, NobodyIsNamedWhereTwoFit) {
  Add("", 0, "power", 0, 300);
  AddHealth("n1", 0, 0);
  AddHealth("n2", 0, 8);
  EXPECT_EQ(Gpus()[0].who.rank, kNone32);
}

}  // namespace watched_gpus_test

}  // namespace debrief::outputs::html
