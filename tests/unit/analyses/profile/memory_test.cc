// What small timelines with [memory] events tell: peaks, ops, who held what.
#include <gtest/gtest.h>

#include "tables/memory_fit.h"
#include "tables/profile_memory_category.h"
#include "tables/profile_memory_curve.h"
#include "tables/profile_memory_holder.h"
#include "tables/profile_memory_op.h"
#include "tables/profile_memory_peak.h"
#include "tables/timeline_device.h"
#include "tables/timeline_memory.h"
#include "unit/analyses/profile/fixture.h"

namespace debrief::analyses::profile_memory {

const Analysis& Describe();

namespace profile_memory_test {

using timeline::kOp;
using timeline::kPython;

struct Change {
  int64_t time = 0;
  int64_t address = 0;
  int64_t bytes = 0;
  int64_t allocated = kNone64;
  int64_t reserved = kNone64;
};

void AddMemory(TimelineFixture& timeline, int32_t track, const Change& change) {
  auto row = timeline.writer().NewRow<TimelineMemoryRow>();
  row.track = track;
  row.time_ns = change.time;
  row.address = change.address;
  row.bytes = change.bytes;
  row.allocated_bytes = change.allocated;
  row.reserved_bytes = change.reserved;
  row.device_type = 1;
  row.device = 0;
  timeline.part().tables.Edit<TimelineMemoryTable>().Add(row);
}

void AddDevice(TimelineFixture& timeline, int64_t bytes) {
  auto row = timeline.writer().NewRow<TimelineDeviceRow>();
  row.device = 0;
  row.memory_bytes = bytes;
  timeline.part().tables.Edit<TimelineDeviceTable>().Add(row);
}

// "aten::mm 100 x1 recorded; " of what lived at the peak.
std::string Holders(const Model& model) {
  const auto& rows = model.tables.Get<ProfileMemoryHolderTable>();
  std::string text;
  for (size_t row = 0; row < rows.size(); ++row) {
    text += fmt::format("{}{} {} {}; ", model.pools.Text(rows.op[row]),
                        rows.module[row] == StringId::kNone
                            ? ""
                            : fmt::format(" in {}", model.pools.Text(rows.module[row])),
                        rows.bytes[row], model.pools.Text(rows.source[row]));
  }
  return text;
}

TimelineFixture Story() {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  timeline.AddSlice(thread, {"nn.Module: Linear_0", kPython, 0, 50});
  timeline.AddSlice(thread, {"aten::linear", kOp, 5, 40});
  timeline.AddSlice(thread, {"aten::mm", kOp, 10, 20});
  timeline.AddSlice(thread, {"aten::relu", kOp, 60, 20});
  // 1000 bytes were there before; the events of the file are out of order.
  AddMemory(timeline, thread, {65, 2, 300, 1400, 2000});
  AddMemory(timeline, thread, {15, 1, 100, 1100, 2000});
  AddMemory(timeline, thread, {20, 3, 50, 1150, 2000});
  AddMemory(timeline, thread, {25, 3, -50, 1100, 2000});
  AddMemory(timeline, thread, {90, 2, -300, 1100, 2500});
  return timeline;
}

TEST(ProfileMemory, ThePeakHasItsOpAndItsHolders) {
  TimelineFixture timeline = Story();
  AddDevice(timeline, 10'000);
  Model model = timeline.Build();
  EXPECT_TRUE(RunAnalysis(Describe(), model).empty()) << "a quarter of the device is not much";
  const auto& peaks = model.tables.Get<ProfileMemoryPeakTable>();
  ASSERT_EQ(peaks.size(), 1u);
  EXPECT_EQ(peaks.peak_allocated_bytes[0], 1400);
  EXPECT_EQ(peaks.peak_ns[0], 65);
  EXPECT_EQ(model.pools.Text(peaks.op[0]), "aten::relu");
  EXPECT_EQ(peaks.reserved_at_peak_bytes[0], 2000);
  EXPECT_EQ(peaks.peak_reserved_bytes[0], 2500);
  EXPECT_EQ(peaks.peak_reserved_ns[0], 90);
  EXPECT_DOUBLE_EQ(peaks.reserved_capacity_pct[0], 25);
  EXPECT_EQ(
      Holders(model),
      "aten::relu 300 recorded; aten::mm in nn.Module: Linear_0 100 recorded;  1000 earlier; ");
}

// A step: two activations that the backward frees, a temporary, the gradient of a parameter and
// that of an activation, 1000 bytes from before.
TEST(ProfileMemory, WhatThePeakWasFor) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  timeline.AddSlice(thread, {"aten::linear", kOp, 0, 50});
  timeline.AddSlice(thread, {"autograd::engine::evaluate_function: AddmmBackward0", kOp, 100, 50});
  timeline.AddSlice(thread, {"autograd::engine::evaluate_function: ReluBackward0", kOp, 160, 30});
  AddMemory(timeline, thread, {10, 1, 100, 1100, 2000});
  AddMemory(timeline, thread, {60, 2, 40, 1140, 2000});    // between ops, freed in backward
  AddMemory(timeline, thread, {110, 3, 500, 1640, 2000});  // kept behind the backward
  AddMemory(timeline, thread, {115, 4, 30, 1670, 2000});   // used by the next node
  AddMemory(timeline, thread, {120, 5, 7, 1677, 2000});    // inside of the node
  AddMemory(timeline, thread, {130, 5, -7, 1670, 2000});
  AddMemory(timeline, thread, {165, 1, -100, 1570, 2000});
  AddMemory(timeline, thread, {170, 2, -40, 1530, 2000});
  AddMemory(timeline, thread, {175, 4, -30, 1500, 2000});
  AddDevice(timeline, 10'000);
  Model model = timeline.Build();
  RunAnalysis(Describe(), model);
  const auto& rows = model.tables.Get<ProfileMemoryCategoryTable>();
  std::string text;
  for (size_t row = 0; row < rows.size(); ++row)
    text += fmt::format("{} {}; ", model.pools.Text(rows.category[row]), rows.bytes[row]);
  EXPECT_EQ(text, "earlier 1000; gradients 500; activations 140; temporary 37; unused 323; ");
  const auto& fits = model.tables.Get<MemoryFitTable>();
  ASSERT_EQ(fits.size(), 1u);
  EXPECT_EQ(fits.fixed_bytes[0], 1500);
  EXPECT_EQ(fits.batch_bytes[0], 177);
  EXPECT_EQ(fits.half_batch_bytes[0], 88);
  EXPECT_EQ(fits.checkpoint_bytes[0], 0) << "two activations cannot be checkpointed";
  // (10000 * 1677 / 2000 - 1500) / 177
  EXPECT_NEAR(fits.batch_factor[0], 38.9, 0.01);
}

TEST(ProfileMemory, OpsAddUp) {
  TimelineFixture timeline = Story();
  Model model = timeline.Build();
  RunAnalysis(Describe(), model);
  const auto& ops = model.tables.Get<ProfileMemoryOpTable>();
  std::string text;
  for (size_t row = 0; row < ops.size(); ++row)
    text += fmt::format("{} +{} x{} -{} x{} = {}; ", model.pools.Text(ops.op[row]),
                        ops.allocated_bytes[row], ops.allocations[row], ops.freed_bytes[row],
                        ops.frees[row], ops.net_bytes[row]);
  EXPECT_EQ(text,
            "aten::mm +150 x2 -50 x1 = 100; aten::relu +300 x1 -0 x0 = 300;  +0 x0 -300 x1 = "
            "-300; ");
}

TEST(ProfileMemory, WithoutTotalsChangesAreAddedUp) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  timeline.AddSlice(thread, {"aten::mm", kOp, 0, 100});
  AddMemory(timeline, thread, {10, 1, 100});
  AddMemory(timeline, thread, {20, 2, 70});
  AddMemory(timeline, thread, {30, 1, -100});
  Model model = timeline.Build();
  RunAnalysis(Describe(), model);
  const auto& peaks = model.tables.Get<ProfileMemoryPeakTable>();
  EXPECT_FALSE(peaks.totals_known[0]);
  EXPECT_EQ(peaks.peak_allocated_bytes[0], 170);
  EXPECT_EQ(peaks.peak_reserved_bytes[0], kNone64);
  EXPECT_EQ(peaks.peak_reserved_ns[0], kNone64);
  EXPECT_EQ(Holders(model), "aten::mm 170 recorded; ");
}

TEST(ProfileMemory, ADeviceNearlyFullIsAFinding) {
  TimelineFixture timeline = Story();
  AddDevice(timeline, 2600);
  Model model = timeline.Build();
  std::vector<Finding> findings = RunAnalysis(Describe(), model);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "memory.near_capacity");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].ranks, std::vector<int32_t>{0});
  EXPECT_NE(findings[0].headline.find("96 %"), std::string::npos) << findings[0].headline;
}

TEST(ProfileMemory, TheCurveHasAtMostAThousandPoints) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  timeline.AddSlice(thread, {"aten::mm", kOp, 0, 10'000});
  for (int64_t i = 0; i < 2500; ++i)
    AddMemory(timeline, thread, {i, i, 1, i == 1200 ? 9999 : i, 10'000});
  Model model = timeline.Build();
  RunAnalysis(Describe(), model);
  const auto& curve = model.tables.Get<ProfileMemoryCurveTable>();
  EXPECT_LE(curve.size(), 1000u);
  int64_t events = 0, most = 0;
  for (size_t row = 0; row < curve.size(); ++row) {
    events += curve.events[row];
    most = std::max(most, curve.most_allocated_bytes[row]);
  }
  EXPECT_EQ(events, 2500);
  EXPECT_EQ(most, 9999) << "a short peak is not lost";
  EXPECT_EQ(curve.allocated_bytes.back(), 2499);
}

TEST(ProfileMemory, NumbersThatDoNotFitStayInRange) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  timeline.AddSlice(thread, {"aten::mm", kOp, 0, 100});
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  AddMemory(timeline, thread, {1, 1, kHuge});
  AddMemory(timeline, thread, {2, 2, kHuge});
  Model model = timeline.Build();
  RunAnalysis(Describe(), model);
  EXPECT_EQ(model.tables.Get<ProfileMemoryPeakTable>().peak_allocated_bytes[0], kHuge);
}

}  // namespace profile_memory_test
}  // namespace debrief::analyses::profile_memory
