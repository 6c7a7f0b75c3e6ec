// Which op, module, step and compilation work on a device comes from.
#include <gtest/gtest.h>

#include "analyses/timeline/launches/backward.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_op.h"
#include "tables/timeline_step.h"
#include "torch/compiled_region.h"
#include "unit/model/timeline_fixture.h"

namespace debrief::analyses::timeline_launches {

const Analysis& Describe();

namespace timeline_launches_test {

using timeline::kAnnotation;
using timeline::kKernel;
using timeline::kOp;
using timeline::kPython;
using timeline::kRuntime;

void AddOpRow(TimelineFixture& fixture, int32_t slice, int64_t sequence, int64_t forward_thread) {
  auto row = fixture.writer().NewRow<TimelineOpRow>();
  row.slice = slice;
  row.sequence = sequence;
  row.forward_thread = forward_thread;
  fixture.part().tables.Edit<TimelineOpTable>().Add(row);
}

// The row of the work of that name, with names instead of numbers.
std::string RowOf(const Model& model, std::string_view work) {
  const timeline::TimelineView view = timeline::Timelines(model).front();
  const auto& rows = model.tables.Get<TimelineLaunchTable>();
  auto name = [&](int32_t slice) {
    return std::string(slice == kNone32 ? "-" : view.NameOf(slice));
  };
  for (size_t row = 0; row < rows.size(); ++row) {
    if (view.NameOf(rows.slice[row]) != work) continue;
    std::string text = name(rows.launch[row]) + " < " + name(rows.op[row]) + " < " +
                       name(rows.top_op[row]) + ", " + name(rows.module[row]);
    if (rows.compile_id[row] != StringId::kNone)
      text += ", compiled " + std::string(model.pools.Text(rows.compile_id[row]));
    if (rows.step[row] != kNone32) text += ", step " + std::to_string(rows.step[row]);
    return text + (rows.graph[row] != 0 ? ", graph" : "");
  }
  return "no row";
}

TEST(TimelineLaunches, InnermostAndOutermostOpAroundTheCall) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread(), stream = fixture.AddStream(7);
  fixture.AddSlice(thread, {"nn.Module: Linear_0", kPython, 0, 100});
  fixture.AddSlice(thread, {"aten::linear", kOp, 10, 80});
  fixture.AddSlice(thread, {"aten::addmm", kOp, 20, 60});
  fixture.AddSlice(thread, {"my_range", kAnnotation, 25, 40});
  fixture.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 30, 10, 1});
  fixture.AddSlice(stream, {"gemm", kKernel, 50, 20, 1});
  Model model = fixture.Build();
  RunAnalysis(Describe(), model);
  EXPECT_EQ(RowOf(model, "gemm"),
            "cudaLaunchKernel < aten::addmm < aten::linear, nn.Module: Linear_0");
}

TEST(TimelineLaunches, EveryKernelOfAGraphIsLinked) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread(), stream = fixture.AddStream(7);
  fixture.AddSlice(thread, {"cudaGraphLaunch", kRuntime, 0, 10, 5});
  fixture.AddSlice(stream, {"first", kKernel, 20, 5, 5});
  fixture.AddSlice(stream, {"second", kKernel, 30, 5, 5});
  Model model = fixture.Build();
  RunAnalysis(Describe(), model);
  EXPECT_EQ(RowOf(model, "first"), "cudaGraphLaunch < - < -, -, graph");
  EXPECT_EQ(RowOf(model, "second"), "cudaGraphLaunch < - < -, -, graph");
}

// Ids repeat in files that were joined: the closest call before the work launched it.
TEST(TimelineLaunches, LatestCallBeforeTheWork) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread(), stream = fixture.AddStream(7);
  for (int64_t start : {0, 1000}) {
    fixture.AddSlice(thread, {start == 0 ? "early" : "late", kRuntime, start, 10, 3});
    fixture.AddSlice(stream, {start == 0 ? "work_a" : "work_b", kKernel, start + 50, 10, 3});
  }
  Model model = fixture.Build();
  RunAnalysis(Describe(), model);
  EXPECT_EQ(RowOf(model, "work_a"), "early < - < -, -");
  EXPECT_EQ(RowOf(model, "work_b"), "late < - < -, -");
}

TEST(TimelineLaunches, ExternalIdNamesTheOpWhereNoCallIsShown) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread(), stream = fixture.AddStream(7);
  fixture.AddSlice(thread, {"aten::mm", kOp, 0, 10, kNone64, 9});
  fixture.AddSlice(stream, {"gemm", kKernel, 20, 5, 77, 9});
  fixture.AddSlice(stream, {"lost", kKernel, 30, 5, 78});
  Model model = fixture.Build();
  RunAnalysis(Describe(), model);
  EXPECT_EQ(RowOf(model, "gemm"), "- < aten::mm < aten::mm, -");
  EXPECT_EQ(RowOf(model, "lost"), "- < - < -, -");
}

// Of two forward ops with the number of the backward op, the later made the node. The backward op
// gets its module and compilation, and what is inside of it, too.
TEST(TimelineLaunches, BackwardTakesModuleAndCompilationOfForward) {
  TimelineFixture fixture;
  const int32_t stream = fixture.AddStream(7);
  const int32_t backward = fixture.AddThread("1"), forward = fixture.AddThread("2");
  fixture.AddSlice(forward, {"nn.Module: Linear_0", kPython, 0, 100});
  fixture.AddSlice(forward, {"Torch-Compiled Region: 1/2", kOp, 5, 90});
  AddOpRow(fixture, fixture.AddSlice(forward, {"aten::linear", kOp, 10, 80}), 4, 0);
  AddOpRow(fixture, fixture.AddSlice(forward, {"aten::t", kOp, 12, 10}), 4, 0);
  AddOpRow(
      fixture,
      fixture.AddSlice(backward, {"autograd::engine::evaluate_function: TBackward0", kOp, 200, 50}),
      4, 1);
  AddOpRow(fixture, fixture.AddSlice(backward, {"TBackward0", kOp, 210, 30}), 4, 1);
  fixture.AddSlice(backward, {"cudaLaunchKernel", kRuntime, 215, 10, 1});
  fixture.AddSlice(stream, {"transpose", kKernel, 230, 20, 1});
  Model model = fixture.Build();
  RunAnalysis(Describe(), model);
  EXPECT_EQ(RowOf(model, "transpose"),
            "cudaLaunchKernel < TBackward0 < autograd::engine::evaluate_function: TBackward0, "
            "nn.Module: Linear_0, compiled 1/2");
  const timeline::TimelineView view = timeline::Timelines(model).front();
  NameRoles roles(model.pools, RoleOfName);
  const std::vector<BackwardLink> links = BackwardLinksOf(view, roles);
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(view.NameOf(links[0].forward), "aten::t");
  EXPECT_FALSE(links[0].by_flow);
}

TEST(TimelineLaunches, StepOfTheCallAndNotOfTheWork) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread(), stream = fixture.AddStream(7);
  fixture.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 90, 5, 1});
  fixture.AddSlice(stream, {"gemm", kKernel, 150, 20, 1});
  fixture.AddSlice(stream, {"unlaunched", kKernel, 180, 5});
  Model model = fixture.Build();
  for (int32_t step : {0, 1}) {
    TimelineStepRow row;
    row.input = 0;
    row.step = step;
    row.start_ns = step * 100;
    row.end_ns = row.start_ns + 100;
    model.tables.Edit<TimelineStepTable>().Add(row);
  }
  RunAnalysis(Describe(), model);
  EXPECT_EQ(RowOf(model, "gemm"), "cudaLaunchKernel < - < -, -, step 0");
  EXPECT_EQ(RowOf(model, "unlaunched"), "- < - < -, -, step 1");
}

TEST(TimelineLaunches, CompileIdsInNames) {
  EXPECT_EQ(CompileIdOfRegion("Torch-Compiled Region: 0/0"), "0/0");
  EXPECT_EQ(CompileIdOfRegion("Torch-Compiled Region: !1/0/0"), "!1/0/0");
  EXPECT_EQ(CompileIdOfRegion("Torch-Compiled Region"), "");
  EXPECT_EQ(RoleOfName("## Call CompiledFxGraph fal4x ##"), NameRole::kCompiledCall);
  EXPECT_EQ(RoleOfName("aten::mm"), NameRole::kPlain);
}

}  // namespace timeline_launches_test
}  // namespace debrief::analyses::timeline_launches
