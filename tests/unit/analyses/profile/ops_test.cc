// Host and device time of ops and modules that are inside of one another.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tables/profile_module.h"
#include "tables/profile_op.h"
#include "tables/profile_op_shape.h"
#include "tables/timeline_op.h"
#include "unit/analyses/profile/fixture.h"

namespace debrief::analyses::profile_ops {

const Analysis& Describe();

namespace profile_ops_test {

using timeline::kKernel;
using timeline::kOp;
using timeline::kPython;
using timeline::kRuntime;

template <typename Table>
std::string RowOf(const Model& model, std::string_view name) {
  const auto& rows = model.tables.Get<Table>();
  for (size_t row = 0; row < rows.size(); ++row) {
    if (model.pools.Text(rows.name[row]) != name) continue;
    return fmt::format("{} times, host {} self {}, device {} self {}, {} works", rows.count[row],
                       rows.host_total_ns[row], rows.host_self_ns[row], rows.device_total_ns[row],
                       rows.device_self_ns[row], rows.works[row]);
  }
  return "no row";
}

TEST(ProfileOps, SelfTimeLeavesOutOpsInsideAndKeepsCalls) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread(), stream = fixture.AddStream(7);
  fixture.AddSlice(thread, {"aten::linear", kOp, 0, 100});
  fixture.AddSlice(thread, {"aten::t", kOp, 10, 20});
  fixture.AddSlice(thread, {"frame.py", kPython, 35, 55});
  fixture.AddSlice(thread, {"aten::addmm", kOp, 40, 50});
  fixture.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 50, 10, 1});
  fixture.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 70, 10, 2});
  fixture.AddSlice(stream, {"gemm", kKernel, 60, 40, 1});
  fixture.AddSlice(stream, {"bias", kKernel, 90, 30, 2});
  Model model = fixture.Build();
  LinkByCorrelation(model);
  RunAnalysis(Describe(), model);
  EXPECT_EQ(RowOf<ProfileOpTable>(model, "aten::linear"),
            "1 times, host 100 self 30, device 60 self 0, 2 works");
  EXPECT_EQ(RowOf<ProfileOpTable>(model, "aten::addmm"),
            "1 times, host 50 self 50, device 60 self 60, 2 works");
  EXPECT_EQ(RowOf<ProfileOpTable>(model, "aten::t"),
            "1 times, host 20 self 20, device 0 self 0, 0 works");
}

TEST(ProfileOps, AnOpInsideOfItselfCountsOnce) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread(), stream = fixture.AddStream(7);
  fixture.AddSlice(thread, {"aten::to", kOp, 0, 100});
  fixture.AddSlice(thread, {"aten::to", kOp, 10, 80});
  fixture.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 50, 10, 1});
  fixture.AddSlice(stream, {"copy", kKernel, 70, 5, 1});
  fixture.AddSlice(thread, {"aten::to", kOp, 200, 10});
  Model model = fixture.Build();
  LinkByCorrelation(model);
  RunAnalysis(Describe(), model);
  EXPECT_EQ(RowOf<ProfileOpTable>(model, "aten::to"),
            "3 times, host 110 self 110, device 5 self 5, 1 works");
}

// Two devices at once are two times busy.
TEST(ProfileOps, DevicesAddUp) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread();
  const int32_t first = fixture.AddStream(7, 0), second = fixture.AddStream(7, 1);
  fixture.AddSlice(thread, {"aten::mm", kOp, 0, 100});
  fixture.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 10, 10, 1});
  fixture.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 30, 10, 2});
  fixture.AddSlice(first, {"gemm", kKernel, 50, 20, 1});
  fixture.AddSlice(second, {"gemm", kKernel, 50, 20, 2});
  Model model = fixture.Build();
  LinkByCorrelation(model);
  RunAnalysis(Describe(), model);
  EXPECT_EQ(RowOf<ProfileOpTable>(model, "aten::mm"),
            "1 times, host 100 self 100, device 40 self 40, 2 works");
}

TEST(ProfileOps, ShapesAreApart) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread();
  for (auto [start, shapes] : {std::pair(0, "[[2]]"), {100, "[[4]]"}, {200, "[[4]]"}}) {
    auto row = fixture.writer().NewRow<TimelineOpRow>();
    row.slice = fixture.AddSlice(thread, {"aten::mm", kOp, start, 10});
    row.shapes = fixture.writer().Intern(shapes);
    fixture.part().tables.Edit<TimelineOpTable>().Add(row);
  }
  Model model = fixture.Build();
  RunAnalysis(Describe(), model);
  const auto& rows = model.tables.Get<ProfileOpShapeTable>();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(model.pools.Text(rows.shapes[1]), "[[4]]");
  EXPECT_EQ(rows.count[1], 2);
  EXPECT_EQ(rows.host_total_ns[1], 20);
}

TEST(ProfileOps, ModulesNest) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread(), stream = fixture.AddStream(7);
  fixture.AddSlice(thread, {"nn.Module: Net_0", kPython, 0, 100});
  fixture.AddSlice(thread, {"forward", kPython, 5, 90});
  fixture.AddSlice(thread, {"nn.Module: Linear_0", kPython, 10, 60});
  fixture.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 20, 10, 1});
  fixture.AddSlice(stream, {"gemm", kKernel, 40, 20, 1});
  Model model = fixture.Build();
  LinkByCorrelation(model);
  model.tables.Edit<TimelineLaunchTable>().module[0] =
      SliceNamed(timeline::Timelines(model).front(), "nn.Module: Linear_0");
  RunAnalysis(Describe(), model);
  EXPECT_EQ(RowOf<ProfileModuleTable>(model, "Net_0"),
            "1 times, host 100 self 40, device 20 self 0, 1 works");
  EXPECT_EQ(RowOf<ProfileModuleTable>(model, "Linear_0"),
            "1 times, host 60 self 60, device 20 self 20, 1 works");
  const auto& rows = model.tables.Get<ProfileModuleTable>();
  EXPECT_EQ(model.pools.Text(rows.parent[1]), "Net_0");
  EXPECT_EQ(rows.depth[1], 1);
}

}  // namespace profile_ops_test
}  // namespace debrief::analyses::profile_ops
