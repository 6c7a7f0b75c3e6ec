// Kernels by name, by op, and as HTA lists them.
#include <gtest/gtest.h>

#include <cmath>

#include "tables/profile_kernel.h"
#include "tables/profile_kernel_op.h"
#include "tables/timeline_device_work.h"
#include "unit/analyses/profile/fixture.h"

namespace debrief::analyses::profile_kernels {

const Analysis& Describe();

namespace profile_kernels_test {

using timeline::kKernel;
using timeline::kMemcpy;
using timeline::kOp;
using timeline::kRuntime;

TEST(ProfileKernels, FiguresOfOneName) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread(), stream = fixture.AddStream(7);
  fixture.AddSlice(thread, {"aten::mm", kOp, 0, 10});
  fixture.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 2, 2, 1});
  fixture.AddSlice(stream, {"gemm", kKernel, 10, 10, 1});
  fixture.AddSlice(stream, {"gemm", kKernel, 30, 20, 2});
  fixture.AddSlice(stream, {"Memcpy HtoD", kMemcpy, 60, 10, 3});
  auto& works = fixture.part().tables.Edit<TimelineDeviceWorkTable>();
  works.blocks = {8, 16, kNone64};
  works.threads = {128, 128, kNone32};
  works.occupancy_pct = {50, 20, kNoDouble};
  Model model = fixture.Build();
  LinkByCorrelation(model);
  RunAnalysis(Describe(), model);
  const auto& rows = model.tables.Get<ProfileKernelTable>();
  ASSERT_GE(rows.size(), 2u);
  EXPECT_EQ(model.pools.Text(rows.name[0]), "gemm");
  EXPECT_EQ(model.pools.Text(rows.device_class[0]), "compute");
  EXPECT_EQ(rows.count[0], 2);
  EXPECT_EQ(rows.total_ns[0], 30);
  EXPECT_DOUBLE_EQ(rows.median_ns[0], 15);
  EXPECT_DOUBLE_EQ(rows.stddev_ns[0], std::sqrt(50.0));
  EXPECT_DOUBLE_EQ(rows.share_pct[0], 75);
  EXPECT_EQ(rows.blocks[0], kNone64);
  EXPECT_EQ(rows.threads[0], 128);
  EXPECT_DOUBLE_EQ(rows.occupancy_pct[0], 30);
  EXPECT_EQ(model.pools.Text(rows.device_class[1]), "memcpy");
  EXPECT_TRUE(std::isnan(rows.stddev_ns[1]));
  EXPECT_TRUE(std::isnan(rows.occupancy_pct[1]));
  const auto& by_op = model.tables.Get<ProfileKernelOpTable>();
  ASSERT_EQ(by_op.size(), 3u);
  EXPECT_EQ(model.pools.Text(by_op.op[0]), "aten::mm");
  EXPECT_EQ(by_op.total_ns[0], 10);
  EXPECT_EQ(by_op.op[1], StringId::kNone);
}

// Twelve names of 12 to 1 us: running sums 12 23 33 42 50 57 63 68 72 75 77 78, whose 0.8 quantile
// is 74.4; nine names stay, three become others, and all are summarised over sums.
TEST(ProfileKernels, HtaKeepsTheLargest) {
  TimelineFixture fixture;
  const int32_t stream = fixture.AddStream(7);
  const std::string_view names = "abcdefghijkl";
  for (size_t i = 0; i < names.size(); ++i) {
    const auto time = static_cast<int64_t>(names.size() - i) * 1000;
    fixture.AddSlice(stream, {names.substr(i, 1), kKernel, static_cast<int64_t>(i) * 100'000, time,
                              static_cast<int64_t>(i) + 1});
  }
  Model model = fixture.Build();
  LinkByCorrelation(model);
  auto& rows = model.tables.Edit<TimelineSliceTable>();
  rows.category.assign(rows.size(), rows.kind[0]);
  RunAnalysis(Describe(), model);
  const auto& kernels = model.tables.Get<ProfileKernelTable>();
  ASSERT_EQ(kernels.size(), 12u + 10u);
  const size_t others = kernels.size() - 1;
  EXPECT_EQ(model.pools.Text(kernels.name[others]), "others");
  EXPECT_EQ(kernels.total_ns[others], 6000);
  EXPECT_EQ(kernels.max_ns[others], 3000);
  EXPECT_DOUBLE_EQ(kernels.mean_ns[others], 2000);
  EXPECT_EQ(kernels.count[others], kNone64);
}

}  // namespace profile_kernels_test
}  // namespace debrief::analyses::profile_kernels
