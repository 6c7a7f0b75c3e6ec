// What devices did, by hand and against a count of single nanoseconds.
#include <gtest/gtest.h>

#include "tables/profile_breakdown.h"
#include "tables/profile_step_category.h"
#include "unit/analyses/profile/fixture.h"

namespace debrief::analyses::profile_breakdown {

const Analysis& Describe();

namespace profile_breakdown_test {

using timeline::kAnnotation;
using timeline::kKernel;
using timeline::kMemcpy;
using timeline::kMemset;
using timeline::kOp;
using timeline::kRuntime;

// Rows of a definition and scope.
std::vector<size_t> RowsOf(const Model& model, std::string_view definition,
                           std::string_view scope = "all") {
  const auto& rows = model.tables.Get<ProfileBreakdownTable>();
  std::vector<size_t> found;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (model.pools.Text(rows.definition[row]) == definition &&
        model.pools.Text(rows.scope[row]) == scope)
      found.push_back(row);
  }
  return found;
}

std::string RowText(const Model& model, size_t row) {
  const auto& rows = model.tables.Get<ProfileBreakdownTable>();
  return fmt::format("total {} busy {} idle {} compute {} comm {} copy {}", rows.total_ns[row],
                     rows.busy_ns[row], rows.idle_ns[row], rows.compute_ns[row],
                     rows.exposed_communication_ns[row], rows.exposed_memcpy_ns[row]);
}

std::string Only(const Model& model, std::string_view definition) {
  auto rows = RowsOf(model, definition);
  return rows.size() == 1 ? RowText(model, rows[0]) : fmt::format("{} rows", rows.size());
}

void ExpectSums(const ProfileBreakdownTable& rows, size_t row) {
  EXPECT_EQ(rows.busy_ns[row] + rows.idle_ns[row], rows.total_ns[row]);
  EXPECT_EQ(rows.compute_ns[row] + rows.exposed_communication_ns[row] +
                rows.exposed_memcpy_ns[row] + rows.idle_ns[row],
            rows.total_ns[row]);
}

TEST(ProfileBreakdown, ComputeBeforeCommunicationBeforeCopies) {
  TimelineFixture timeline;
  int32_t a = timeline.AddStream(7), b = timeline.AddStream(20), c = timeline.AddStream(30);
  timeline.AddSlice(a, {"gemm", kKernel, 0, 10});
  timeline.AddSlice(b, {"ncclKernel", kKernel, 5, 10});
  timeline.AddSlice(c, {"Memcpy HtoD", kMemcpy, 8, 10});
  timeline.AddSlice(c, {"Memset", kMemset, 30, 2});
  Model model = timeline.Build();
  RunAnalysis(Describe(), model);
  EXPECT_EQ(Only(model, "debrief"), "total 32 busy 20 idle 12 compute 10 comm 5 copy 5");
  const auto& rows = model.tables.Get<ProfileBreakdownTable>();
  EXPECT_EQ(rows.overlap_ns[0], 5);
  EXPECT_EQ(rows.communication_ns[0], 10);
  EXPECT_EQ(rows.memcpy_ns[0], 12);
  EXPECT_TRUE(rows.idle_known[0]);
  EXPECT_EQ(RowsOf(model, "debrief", "stream").size(), 3u);
  EXPECT_EQ(Only(model, "tracelens"), "0 rows") << "no launch is shown";
}

TEST(ProfileBreakdown, TraceLensLeavesOutWhatIsNotLinkedAndFillsCompute) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 0, 2, 1});
  timeline.AddSlice(thread, {"cudaMemsetAsync", kRuntime, 3, 2, 2});
  timeline.AddSlice(stream, {"gemm", kKernel, 10, 10, 1});
  timeline.AddSlice(stream, {"Memset", kMemset, 25, 5, 2});
  timeline.AddSlice(stream, {"gemm", kKernel, 90, 10, 3});
  Model model = timeline.Build();
  LinkByCorrelation(model);
  RunAnalysis(Describe(), model);
  EXPECT_EQ(Only(model, "debrief"), "total 90 busy 25 idle 65 compute 20 comm 0 copy 5");
  EXPECT_EQ(Only(model, "tracelens"), "total 20 busy 15 idle 5 compute 15 comm 0 copy 0");
  size_t row = RowsOf(model, "tracelens")[0];
  EXPECT_EQ(model.tables.Get<ProfileBreakdownTable>().left_out_unlinked[row], 1);
}

TEST(ProfileBreakdown, SeveralDevicesHaveRowsOfTheirOwn) {
  TimelineFixture timeline;
  timeline.AddSlice(timeline.AddStream(7, 0), {"gemm", kKernel, 0, 10});
  timeline.AddSlice(timeline.AddStream(7, 1), {"gemm", kKernel, 5, 10});
  Model model = timeline.Build();
  RunAnalysis(Describe(), model);
  EXPECT_EQ(Only(model, "debrief"), "total 15 busy 15 idle 0 compute 15 comm 0 copy 0");
  const auto& rows = model.tables.Get<ProfileBreakdownTable>();
  EXPECT_EQ(rows.device[RowsOf(model, "debrief")[0]], kNone32);
  auto devices = RowsOf(model, "debrief", "device");
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(rows.total_ns[devices[1]], 10);
}

TEST(ProfileBreakdown, GraphsWhoseKernelsAreNotShownLeaveIdleUnknown) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  timeline.AddSlice(thread, {"cudaGraphLaunch", kRuntime, 2, 2, 1});
  timeline.AddSlice(thread, {"cudaGraphLaunch", kRuntime, 12, 2, 2});
  timeline.AddSlice(stream, {"a kernel of the graph", kKernel, 5, 3, 1});
  timeline.AddSlice(stream, {"another", kKernel, 9, 3, 1});
  timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 80, 2, 3});
  timeline.AddSlice(stream, {"gemm", kKernel, 90, 10, 3});
  Model model = timeline.Build();
  RunAnalysis(Describe(), model);
  const auto& rows = model.tables.Get<ProfileBreakdownTable>();
  EXPECT_FALSE(rows.idle_known[0]);
  EXPECT_EQ(rows.idle_ns[0], 95 - 16);
  EXPECT_NE(model.pools.Text(rows.note[0]).find("1 graph launches"), std::string_view::npos);
}

TEST(ProfileBreakdown, GraphsWhoseKernelsCarryOtherIdsAreShown) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  timeline.AddSlice(thread, {"hipGraphLaunch", kRuntime, 2, 2, 1});
  timeline.AddSlice(stream, {"of the graph", kKernel, 5, 3, 77});
  timeline.AddSlice(stream, {"of the graph", kKernel, 20, 3});
  Model model = timeline.Build();
  RunAnalysis(Describe(), model);
  EXPECT_TRUE(model.tables.Get<ProfileBreakdownTable>().idle_known[0]);
}

TEST(ProfileBreakdown, HtaRoundsToMicrosecondsOfTheFile) {
  TimelineFixture timeline;
  int32_t stream = timeline.AddStream(7);
  // 1.2 to 4.9 us is 2 to 4; 6.1 to 6.8 us ends before it begins.
  timeline.AddSlice(stream, {"gemm", kKernel, 1200, 3700, 1, kNone64, "kernel"});
  timeline.AddSlice(stream, {"gemm", kKernel, 6100, 700, 2, kNone64, "kernel"});
  timeline.AddSlice(stream, {"Stream Sync", timeline::kSync, 9000, 1000, 3, kNone64, "cuda_sync"});
  Model model = timeline.Build({.producer = "kineto", .base_ns = 555});
  RunAnalysis(Describe(), model);
  size_t row = RowsOf(model, "hta")[0];
  const auto& rows = model.tables.Get<ProfileBreakdownTable>();
  EXPECT_EQ(rows.total_ns[row], 8000);
  EXPECT_EQ(rows.busy_ns[row], 2000 - 1000 + 1000);
  EXPECT_EQ(rows.compute_ns[row], 1000);
  EXPECT_EQ(rows.other_ns[row], 1000);
  EXPECT_EQ(rows.window_start_ns[row], 2555);
  EXPECT_EQ(rows.left_out_negative[row], 1);
  EXPECT_DOUBLE_EQ(rows.idle_pct[row], 75);
}

TEST(ProfileBreakdown, HtaLeavesOutWhatTheLastStepLaunched) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  timeline.AddSlice(thread,
                    {"ProfilerStep#1", kAnnotation, 0, 10'000, kNone64, 1, "user_annotation"});
  timeline.AddSlice(thread,
                    {"ProfilerStep#2", kAnnotation, 10'000, 10'000, kNone64, 2, "user_annotation"});
  timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 1000, 1000, 1, kNone64, "cuda_runtime"});
  timeline.AddSlice(thread,
                    {"cudaLaunchKernel", kRuntime, 11'000, 1000, 2, kNone64, "cuda_runtime"});
  timeline.AddSlice(stream, {"gemm", kKernel, 5000, 9000, 1, kNone64, "kernel"});
  timeline.AddSlice(stream, {"gemm", kKernel, 15'000, 9000, 2, kNone64, "kernel"});
  Model model = timeline.Build();
  RunAnalysis(Describe(), model);
  size_t row = RowsOf(model, "hta")[0];
  const auto& rows = model.tables.Get<ProfileBreakdownTable>();
  EXPECT_EQ(rows.total_ns[row], 9000);
  EXPECT_EQ(rows.left_out_outside[row], 1);
}

TEST(ProfileBreakdown, StepsDoNotShareTime) {
  TimelineFixture timeline;
  int32_t stream = timeline.AddStream(7);
  timeline.AddSlice(stream, {"gemm", kKernel, 5, 10});
  timeline.AddSlice(stream, {"gemm", kKernel, 16, 2});
  Model model = timeline.Build();
  AddStep(model, 0, {0, 10}, 15);
  AddStep(model, 1, {10, 20});
  RunAnalysis(Describe(), model);
  const auto& rows = model.tables.Get<ProfileBreakdownTable>();
  auto steps = RowsOf(model, "debrief", "step");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(RowText(model, steps[0]), "total 15 busy 10 idle 5 compute 10 comm 0 copy 0");
  EXPECT_EQ(RowText(model, steps[1]), "total 5 busy 2 idle 3 compute 2 comm 0 copy 0");
  EXPECT_EQ(rows.window_start_ns[steps[1]], 15);
  EXPECT_EQ(rows.kernels[steps[1]], 1);
  EXPECT_EQ(rows.left_out_outside[steps[1]], 1);
}

// "kernel 4; memcpy 0; ..." of a step, without those that are 0.
std::string Categories(const Model& model, int32_t step) {
  const auto& rows = model.tables.Get<ProfileStepCategoryTable>();
  std::string text;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.step[row] == step && rows.time_ns[row] != 0)
      text += fmt::format("{} {}; ", model.pools.Text(rows.category[row]), rows.time_ns[row]);
  }
  return text;
}

TEST(ProfileBreakdown, CategoriesOfTensorBoardTakeWhatIsLeft) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  timeline.AddSlice(
      thread, {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", kAnnotation, 0, 10});
  timeline.AddSlice(thread, {"aten::mm", kOp, 12, 20});
  timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 15, 5, 1});
  timeline.AddSlice(stream, {"gemm", kKernel, 18, 6, 1});
  timeline.AddSlice(stream, {"ncclKernel", kKernel, 22, 4, 2});
  Model model = timeline.Build();
  AddStep(model, 0, {0, 40});
  RunAnalysis(Describe(), model);
  EXPECT_EQ(Categories(model, 0),
            "kernel 6; communication 2; runtime 3; dataloader 10; cpu_exec 9; other 10; ");
}

TEST(ProfileBreakdown, ALastStepThatWasCutHasNoCategories) {
  TimelineFixture timeline;
  timeline.AddSlice(timeline.AddStream(7), {"gemm", kKernel, 5, 10});
  Model model = timeline.Build();
  AddStep(model, 0, {0, 10}, kNone64, 10);
  AddStep(model, 1, {10, 20}, kNone64, 7);
  RunAnalysis(Describe(), model);
  EXPECT_NE(Categories(model, 0), "");
  EXPECT_EQ(Categories(model, 1), "");
}

TEST(ProfileBreakdown, NoDeviceNoRows) {
  TimelineFixture timeline;
  timeline.AddSlice(timeline.AddThread(), {"aten::mm", kOp, 0, 5});
  Model model = timeline.Build();
  EXPECT_TRUE(RunAnalysis(Describe(), model).empty());
  EXPECT_EQ(model.tables.Get<ProfileBreakdownTable>().size(), 0u);
  EXPECT_EQ(Categories(model, kNone32), "cpu_exec 5; ");
}

// Counts nanoseconds one by one.
struct Counted {
  int64_t total = 0, idle = 0, compute = 0, communication = 0, memory = 0, overlap = 0;
};

Counted CountNanoseconds(const std::vector<RandomWork>& works) {
  int64_t first = std::numeric_limits<int64_t>::max(), last = std::numeric_limits<int64_t>::min();
  for (const RandomWork& work : works) {
    if (work.kind == 4 || work.duration < 0) continue;
    first = std::min(first, work.begin);
    last = std::max(last, work.begin + work.duration);
  }
  Counted counted;
  for (int64_t at = first; at < last; ++at) {
    bool runs[4] = {};
    for (const RandomWork& work : works) {
      if (work.kind < 4 && at >= work.begin && at < work.begin + work.duration)
        runs[work.kind] = true;
    }
    ++counted.total;
    if (runs[0] && runs[1]) ++counted.overlap;
    ++(runs[0]              ? counted.compute
       : runs[1]            ? counted.communication
       : runs[2] || runs[3] ? counted.memory
                            : counted.idle);
  }
  return counted;
}

TEST(ProfileBreakdown, AgreesWithACountOfNanoseconds) {
  std::mt19937 random(41);
  for (int round = 0; round < 1500; ++round) {
    auto works = RandomWorks(random, 1);
    Model model = ModelOf(works);
    RunAnalysis(Describe(), model);
    Counted counted = CountNanoseconds(works);
    const auto& rows = model.tables.Get<ProfileBreakdownTable>();
    auto found = RowsOf(model, "debrief");
    if (found.empty()) {
      ASSERT_EQ(counted.total, 0);
      continue;
    }
    size_t row = found[0];
    ExpectSums(rows, row);
    ASSERT_EQ(rows.total_ns[row], counted.total) << "round " << round;
    ASSERT_EQ(rows.idle_ns[row], counted.idle);
    ASSERT_EQ(rows.compute_ns[row], counted.compute);
    ASSERT_EQ(rows.exposed_communication_ns[row], counted.communication);
    ASSERT_EQ(rows.exposed_memcpy_ns[row], counted.memory);
    ASSERT_EQ(rows.overlap_ns[row], counted.overlap);
    for (size_t stream : RowsOf(model, "debrief", "stream")) ExpectSums(rows, stream);
  }
}

TEST(ProfileBreakdown, ExposedCommunicationIsOneFindingForAJob) {
  Model model;
  constexpr int64_t kMs = 1'000'000;
  for (int32_t rank : {0, 1}) {
    TimelineFixture timeline({.input = rank, .job = 0, .attempt = 0, .rank = rank});
    int32_t stream = timeline.AddStream(7);
    timeline.AddSlice(stream, {"gemm", kKernel, 0, 600 * kMs});
    timeline.AddSlice(stream, {"ncclKernel", kKernel, 600 * kMs, (rank == 0 ? 90 : 600) * kMs});
    timeline.BuildInto(model);
  }
  auto findings = RunAnalysis(Describe(), model);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "profile.exposed_communication");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].ranks, (std::vector<int32_t>{}));
  EXPECT_NE(findings[0].headline.find("50 % of the time on rank 1 (600 ms of 1.20 s)"),
            std::string::npos)
      << findings[0].headline;
}

TEST(ProfileBreakdown, AShortRecordingIsNoFinding) {
  TimelineFixture timeline;
  timeline.AddSlice(timeline.AddStream(7), {"ncclKernel", kKernel, 0, 50'000'000});
  Model model = timeline.Build();
  EXPECT_TRUE(RunAnalysis(Describe(), model).empty());
}

}  // namespace profile_breakdown_test
}  // namespace debrief::analyses::profile_breakdown
