// The analyses of accelerators: what they find, and what they leave alone.
#include <gtest/gtest.h>

#include <cmath>

#include "tables/accel_balance.h"
#include "tables/accel_category.h"
#include "tables/accel_clock.h"
#include "tables/accel_collective.h"
#include "tables/accel_cycles.h"
#include "tables/accel_host_call.h"
#include "tables/accel_ideal.h"
#include "tables/accel_iteration.h"
#include "tables/accel_utilisation.h"
#include "tables/profile_collective.h"
#include "tables/profile_queue.h"
#include "unit/analyses/accel/flex_builder.h"
#include "unit/analyses/profile/fixture.h"

namespace debrief {
namespace analyses {
namespace accel_balance {
const Analysis& Describe();
}
namespace accel_categories {
const Analysis& Describe();
}
namespace accel_clock {
const Analysis& Describe();
}
namespace accel_collectives {
const Analysis& Describe();
}
namespace accel_host {
const Analysis& Describe();
}
namespace accel_iterations {
const Analysis& Describe();
}
namespace accel_utilisation {
const Analysis& Describe();
}
namespace profile_launches {
const Analysis& Describe();
}
namespace timeline_collectives {
const Analysis& Describe();
}
}  // namespace analyses

namespace accel_test {

using timeline::kKernel;
using timeline::kRuntime;

constexpr int64_t kUs = 1000;

const Finding* FindRule(const std::vector<Finding>& findings, std::string_view rule) {
  for (const Finding& finding : findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

// Kernels launched 10 us before they run, and a wait at the end.
Model LaunchedKernels(int64_t device_shift_ns, int kernels = 10) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread(), stream = fixture.AddStream(7);
  for (int i = 0; i < kernels; ++i) {
    const int64_t at = i * 100 * kUs;
    fixture.AddSlice(thread, {"cudaLaunchKernel", kRuntime, at, 5 * kUs, i + 1});
    fixture.AddSlice(stream, {"gemm", kKernel, at + 10 * kUs + device_shift_ns, 40 * kUs, i + 1});
  }
  fixture.AddSlice(thread, {"cudaDeviceSynchronize", kRuntime, kernels * 100 * kUs, 20 * kUs});
  Model model = fixture.Build();
  LinkByCorrelation(model);
  return model;
}

TEST(AccelClock, AHealthyClockAgrees) {
  Model model = LaunchedKernels(0);
  EXPECT_TRUE(RunAnalysis(analyses::accel_clock::Describe(), model).empty());
  const auto& rows = model.tables.Get<AccelClockTable>();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(model.pools.Text(rows.state[0]), "agrees");
  EXPECT_EQ(rows.lower_ns[0], -10 * kUs);
  EXPECT_EQ(rows.upper_ns[0], (10 * 100 + 20 - 950) * kUs);
  EXPECT_EQ(rows.early[0], 0);
}

TEST(AccelClock, KernelsBeforeTheirLaunchAreToldWithTheShift) {
  Model model = LaunchedKernels(-50 * kUs);
  auto findings = RunAnalysis(analyses::accel_clock::Describe(), model);
  const Finding* finding = FindRule(findings, "accel.clock_violation");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::kWarning);
  EXPECT_NE(finding->headline.find("40.0 us"), std::string::npos) << finding->headline;
  const auto& rows = model.tables.Get<AccelClockTable>();
  EXPECT_EQ(rows.early[0], 10);
  EXPECT_EQ(rows.lower_ns[0], 40 * kUs);
  EXPECT_EQ(model.pools.Text(rows.state[0]), "shift");
}

TEST(AccelClock, WorkThatEndsAfterItWasWaitedForIsTold) {
  Model model = LaunchedKernels(200 * kUs);
  auto findings = RunAnalysis(analyses::accel_clock::Describe(), model);
  EXPECT_EQ(model.tables.Get<AccelClockTable>().late[0], 2);  // the last two
  EXPECT_EQ(model.tables.Get<AccelClockTable>().worst_late_ns[0], 130 * kUs);
  EXPECT_EQ(FindRule(findings, "accel.clock_violation"), nullptr);  // two are an accident
}

FlexBuilder ManyKernels(int count = 40) {
  FlexBuilder flex;
  for (int i = 0; i < count; ++i) flex.AddKernel("k", 100.0 * i, 30 + i % 7);
  return flex;
}

TEST(AccelClock, TheRightFrequencyIsTold) {
  FlexBuilder flex;
  flex.mhz = 557.05;
  for (int i = 0; i < 40; ++i) flex.AddKernel("k", 100.0 * i, 30 + i % 7);
  Model model = flex.Build();
  auto findings = RunAnalysis(analyses::accel_clock::Describe(), model);
  const Finding* finding = FindRule(findings, "accel.wrong_frequency");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->next_step.find("--freq=557.05"), std::string::npos) << finding->next_step;
  EXPECT_EQ(finding->ranks, std::vector<int32_t>{5});
  EXPECT_EQ(findings.size(), 1u);
}

TEST(AccelClock, TheAssumedFrequencyIsNotTold) {
  FlexBuilder flex;
  flex.mhz = 1000;
  for (int i = 0; i < 40; ++i) flex.AddKernel("k", 100.0 * i, 30);
  Model model = flex.Build();
  EXPECT_TRUE(RunAnalysis(analyses::accel_clock::Describe(), model).empty());
}

TEST(AccelClock, StretchedEventsAreTold) {
  FlexBuilder flex = ManyKernels();
  flex.host_factor = 1.4;
  for (int i = 40; i < 60; ++i) flex.AddKernel("k", 100.0 * i, 40);
  Model model = flex.Build();
  auto findings = RunAnalysis(analyses::accel_clock::Describe(), model);
  EXPECT_NE(FindRule(findings, "accel.stretched_events"), nullptr);
  EXPECT_EQ(model.tables.Get<AccelCyclesTable>().stretched[0], 20);
}

TEST(AccelClock, ShiftedEventsAreToldAndThoseInsideAreNot) {
  FlexBuilder inside = ManyKernels();
  inside.AddHost("AIU Roundtrip", -5, 4100);
  Model good = inside.Build();
  EXPECT_EQ(FindRule(RunAnalysis(analyses::accel_clock::Describe(), good), "accel.shifted_events"),
            nullptr);
  FlexBuilder outside = ManyKernels();
  outside.AddHost("AIU Roundtrip", 1000, 4100);
  Model bad = outside.Build();
  auto findings = RunAnalysis(analyses::accel_clock::Describe(), bad);
  EXPECT_NE(FindRule(findings, "accel.shifted_events"), nullptr);
  EXPECT_EQ(bad.tables.Get<AccelCyclesTable>().shifted[0], 10);
  EXPECT_EQ(bad.tables.Get<AccelCyclesTable>().shift_ns[0], 1000 * kUs);
}

TEST(AccelClock, GapsThatTheCounterDoesNotHaveAreTold) {
  FlexBuilder flex;
  for (int i = 0; i < 40; ++i) {
    flex.first_cycle = 1000 - std::llround(99.0 * i * flex.mhz) + (int64_t{1} << 32);
    flex.AddKernel("k", 100.0 * i, 30);
  }
  Model model = flex.Build();
  auto findings = RunAnalysis(analyses::accel_clock::Describe(), model);
  EXPECT_NE(FindRule(findings, "accel.gapped_events"), nullptr);
  EXPECT_NE(FindRule(findings, "accel.misaligned_events"), nullptr);  // 30 us long, 1 us apart
}

TEST(AccelClock, ACounterThatBeginsAnewIsToldAsGaps) {
  FlexBuilder flex;
  for (int i = 0; i < 80; ++i) {
    const int64_t fresh_start = i / 20;
    flex.first_cycle = 1000 + (int64_t{1} << 32) -
                       std::llround(static_cast<double>(fresh_start) * 2000 * flex.mhz);
    flex.AddKernel("k", 100.0 * i, 30);
  }
  Model model = flex.Build();
  auto findings = RunAnalysis(analyses::accel_clock::Describe(), model);
  EXPECT_NE(FindRule(findings, "accel.gapped_events"), nullptr);
  Model healthy = ManyKernels(80).Build();
  findings = RunAnalysis(analyses::accel_clock::Describe(), healthy);
  EXPECT_EQ(FindRule(findings, "accel.gapped_events"), nullptr);
}

TEST(AccelCategories, SharesAddUpByDevice) {
  TimelineFixture fixture;
  const int32_t a = fixture.AddStream(7, 0), b = fixture.AddStream(7, 1);
  fixture.AddSlice(a, {"ampere_sgemm_128", kKernel, 0, 30});
  fixture.AddSlice(a, {"ampere_sgemm_64", kKernel, 40, 30});
  fixture.AddSlice(a, {"Memcpy HtoD", timeline::kMemcpy, 80, 40});
  fixture.AddSlice(b, {"what is this", kKernel, 0, 10});
  Model model = fixture.Build();
  RunAnalysis(analyses::accel_categories::Describe(), model);
  const auto& rows = model.tables.Get<AccelCategoryTable>();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(model.pools.Text(rows.category[0]), "copy");
  EXPECT_EQ(model.pools.Text(rows.category[1]), "gemm");
  EXPECT_EQ(rows.time_ns[1], 60);
  EXPECT_EQ(rows.calls[1], 2);
  EXPECT_EQ(rows.names[1], 2);
  EXPECT_DOUBLE_EQ(rows.share_pct[1], 60);
  EXPECT_EQ(rows.device[2], 1);
  EXPECT_EQ(model.pools.Text(rows.category[2]), "other");
}

TEST(AccelIterations, RepetitionIsMeasuredAndItsLackExplained) {
  FlexBuilder flex;
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 5; ++k)
      flex.AddKernel(fmt::format("k{}", k), 1000.0 * i + 100 * k + (i == 7 ? 20 : 0), 50);
  }
  Model model = flex.Build();
  RunAnalysis(analyses::accel_iterations::Describe(), model);
  const auto& rows = model.tables.Get<AccelIterationTable>();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.period[0], 5);
  EXPECT_EQ(rows.iterations[0], 12);
  EXPECT_EQ(rows.measured[0], 11);
  EXPECT_NEAR(rows.mean_ns[0], 1e6, 1);
  EXPECT_EQ(rows.rank[0], 5);
  FlexBuilder once;
  for (int i = 0; i < 50; ++i) once.AddKernel(fmt::format("k{}", i), 100.0 * i, 50);
  Model other = once.Build();
  RunAnalysis(analyses::accel_iterations::Describe(), other);
  EXPECT_EQ(other.tables.Get<AccelIterationTable>().iterations[0], 0);
  EXPECT_FALSE(other.pools.Text(other.tables.Get<AccelIterationTable>().why_not[0]).empty());
}

TEST(AccelHost, CallsOfTheRuntimeByName) {
  FlexBuilder flex;
  flex.AddHost("Execute Graph", 0, 1000);
  flex.AddHost("PrepareDmas", 10, 200);
  flex.AddHost("PrepareDmas", 300, 100);
  flex.AddKernel("k", 500, 100);
  Model model = flex.Build();
  RunAnalysis(analyses::accel_host::Describe(), model);
  const auto& rows = model.tables.Get<AccelHostCallTable>();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(model.pools.Text(rows.name[0]), "Execute Graph");
  EXPECT_EQ(model.pools.Text(rows.phase[0]), "graph_exec");
  EXPECT_EQ(rows.self_ns[0], 700 * kUs);
  EXPECT_EQ(rows.calls[1], 2);
  EXPECT_EQ(rows.total_ns[1], 300 * kUs);
  EXPECT_DOUBLE_EQ(rows.share_pct[1], 30);
}

Model RanksOf(std::vector<double> compute_us) {
  std::string text;
  for (size_t rank = 0; rank < compute_us.size(); ++rank) {
    FlexBuilder flex;
    flex.pid = static_cast<int>(rank);
    flex.AddKernel("a", 0, compute_us[rank]);
    flex.AddKernel("b", 1'000'000, 10);
    std::string one = flex.Text();
    text += (text.empty() ? "[" : ",") + one.substr(1, one.size() - 2);
  }
  Model model;
  model.Append(testing::ImportBytes("flex", text + "]", 1 << 20));
  return model;
}

TEST(AccelBalance, ARankThatComputesLongerIsNamed) {
  Model model = RanksOf({500'000, 500'000, 800'000, 500'000});
  auto findings = RunAnalysis(analyses::accel_balance::Describe(), model);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "accel.unbalanced_ranks");
  EXPECT_EQ(findings[0].ranks, std::vector<int32_t>{2});
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(model.tables.Get<AccelBalanceTable>().size(), 4u);
}

TEST(AccelBalance, LittleDifferencesAreNotWorthAWord) {
  Model model = RanksOf({500'000, 500'000, 540'000, 500'000});
  EXPECT_TRUE(RunAnalysis(analyses::accel_balance::Describe(), model).empty());
  Model short_work = RanksOf({1000, 1000, 2000, 1000});  // twice as long, and nothing of the whole
  EXPECT_TRUE(RunAnalysis(analyses::accel_balance::Describe(), short_work).empty());
}

TEST(AccelBalance, OneDeviceOfARankIsLeftToProfileRanks) {
  TimelineFixture fixture;
  fixture.AddSlice(fixture.AddStream(7), {"k", kKernel, 0, 100});
  Model model = fixture.Build();
  RunAnalysis(analyses::accel_balance::Describe(), model);
  EXPECT_EQ(model.tables.Get<AccelBalanceTable>().size(), 0u);
}

// Two runs of one graph: each transfer comes twice under the same name.
TEST(AccelCollectives, TransfersOfOneCollectiveAreOneRow) {
  FlexBuilder flex;
  for (double run : {0.0, 1000.0}) {
    flex.AddTransfer("SenRdmaSend_1 [sync=s0]", "AllReduce_all_reduce_4", run, 100, 4096);
    flex.AddTransfer("SenRdmaRecv_2 [sync=s1]", "AllReduce_all_reduce_4", run + 50, 200, 8192);
    flex.AddKernel("add", run + 500, 100);
  }
  Model model = flex.Build();
  RunAnalysis(analyses::timeline_collectives::Describe(), model);
  const auto& rows = model.tables.Get<ProfileCollectiveTable>();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(model.pools.Text(rows.op[0]), "all_reduce");
  EXPECT_EQ(model.pools.Text(rows.group_name[0]), "AllReduce_all_reduce_4");
  EXPECT_EQ(rows.start_ns[0], 0);
  EXPECT_EQ(rows.duration_ns[0], 250 * kUs);
  EXPECT_EQ(rows.parts[0], 2);
  EXPECT_EQ(rows.bytes[0], 8192);
  EXPECT_EQ(rows.position[1], 1);
}

Model CollectiveOf(double share) {
  FlexBuilder flex;
  for (int i = 0; i < 3; ++i) {
    flex.AddTransfer("SenRdmaSend_1", "AllReduce_all_reduce_4", 100'000.0 * i, 100'000 * share);
    flex.AddKernel("add", 100'000.0 * i + 99'000, 900);
  }
  Model model = flex.Build();
  RunAnalysis(analyses::timeline_collectives::Describe(), model);
  return model;
}

TEST(AccelCollectives, TheCostliestIsNamedWhenItCosts) {
  Model model = CollectiveOf(0.4);
  auto findings = RunAnalysis(analyses::accel_collectives::Describe(), model);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "accel.costliest_collective");
  EXPECT_EQ(findings[0].op, "all_reduce");
  EXPECT_NEAR(model.tables.Get<AccelCollectiveTable>().share_pct[0], 40, 1);
  Model cheap = CollectiveOf(0.1);
  EXPECT_TRUE(RunAnalysis(analyses::accel_collectives::Describe(), cheap).empty());
}

TEST(ProfileLaunches, ADeviceShowsItsOwnQueue) {
  FlexBuilder flex;
  flex.AddPrep("a", 0, 100);
  flex.AddPrep("b", 10, 10);
  flex.AddPrep("c", 30, 10);
  flex.AddKernel("a", 100, 50);
  Model model = flex.Build();
  LinkByCorrelation(model);
  RunAnalysis(analyses::profile_launches::Describe(), model);
  const auto& rows = model.tables.Get<ProfileQueueTable>();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.max_depth[0], 2);
  EXPECT_EQ(rows.launches[0], 3);
  EXPECT_NEAR(rows.mean_depth[0], 1.2, 0.001);
}

struct Ideal {
  std::string_view kernel, category, phase;
  int64_t cycles;
  int32_t number = 0;
  bool autopilot = false;
};

void AddIdeal(Model& model, const std::vector<Ideal>& rows, int32_t input = 0,
              int32_t rank = kNone32) {
  Part part;
  for (const Ideal& each : rows) {
    auto row = Part::RowOf<AccelIdealRow>({.input = input, .job = 1, .attempt = 2, .rank = rank});
    row.input = input;
    row.number = each.number;
    row.phase = part.pools.Intern(each.phase);
    row.kernel = part.pools.Intern(each.kernel);
    row.category = part.pools.Intern(each.category);
    row.cycles = each.cycles;
    row.autopilot = each.autopilot;
    part.tables.Edit<AccelIdealTable>().Add(row);
  }
  model.Append(std::move(part));
}

// 10 runs of bmm (100 us) and sub (20 us) at 560 MHz; the core has 616 MHz.
FlexBuilder Products() {
  FlexBuilder flex;
  for (int i = 0; i < 10; ++i) {
    flex.AddKernel("bmm", 200.0 * i, 100);
    flex.AddKernel("sub", 200.0 * i + 120, 20);
  }
  return flex;
}

TEST(AccelUtilisation, IdealAgainstObserved) {
  Model model = Products().Build();
  AddIdeal(model, {{"bmm", "Bmm_fp16", "TTFT", 6160},
                   {"sub", "Broadcast", "TTFT", 0},
                   {"Total", "Total", "TTFT", 6160},
                   {"bmm", "Bmm_fp16", "ITL", 77, 1},
                   {"Total", "Total", "ITL", 77, 1}});
  auto findings = RunAnalysis(analyses::accel_utilisation::Describe(), model);
  const auto& rows = model.tables.Get<AccelUtilisationTable>();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(model.pools.Text(rows.kernel[0]), "bmm");
  EXPECT_EQ(model.pools.Text(rows.phase[0]), "TTFT");  // lists sub, which ran
  EXPECT_EQ(rows.ideal_ns[0], 100 * kUs);              // 10 times 10 us
  EXPECT_NEAR(rows.utilisation_pct[0], 10, 0.01);
  EXPECT_TRUE(rows.valid[0]);
  EXPECT_TRUE(std::isnan(rows.utilisation_pct[1]));
  EXPECT_NEAR(rows.utilisation_pct[2], 100.0 * 100 / 1200, 0.01);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "accel.low_utilisation");
  EXPECT_EQ(findings[0].severity, Severity::kInfo);  // a millisecond is no reason to warn
  EXPECT_EQ(findings[0].headline,
            "Kernels reach 10 % of their compiler's estimate: 1.00 ms instead of 100 us");
}

size_t RowOfKernel(const Model& model, std::string_view kernel) {
  const auto& rows = model.tables.Get<AccelUtilisationTable>();
  size_t row = 0;
  while (row < rows.size() && model.pools.Text(rows.kernel[row]) != kernel) ++row;
  EXPECT_LT(row, rows.size()) << kernel;
  return row;
}

TEST(AccelUtilisation, GoodKernelsAreLeftAlone) {
  Model model = Products().Build();
  AddIdeal(model, {{"bmm", "Bmm", "UNKN", 50'000}, {"Total", "Total", "UNKN", 50'000}});
  EXPECT_TRUE(RunAnalysis(analyses::accel_utilisation::Describe(), model).empty());
  const auto& rows = model.tables.Get<AccelUtilisationTable>();
  EXPECT_NEAR(rows.utilisation_pct[RowOfKernel(model, "bmm")], 81.17, 0.01);
  EXPECT_FALSE(rows.valid[RowOfKernel(model, "sub Cmpt Exec")]);  // not listed
}

TEST(AccelUtilisation, WithTheAutopilotOnlyTheSumCounts) {
  Model model = Products().Build();
  AddIdeal(model,
           {{"bmm", "Bmm", "UNKN", 6160, 0, true}, {"Total", "Total", "UNKN", 73'920, 0, true}});
  auto findings = RunAnalysis(analyses::accel_utilisation::Describe(), model);
  const auto& rows = model.tables.Get<AccelUtilisationTable>();
  EXPECT_FALSE(rows.valid[RowOfKernel(model, "bmm")]);
  EXPECT_FALSE(model.pools.Text(rows.why_not[RowOfKernel(model, "bmm")]).empty());
  size_t total = rows.size() - 1;
  EXPECT_TRUE(rows.valid[total]);
  EXPECT_NEAR(rows.utilisation_pct[total], 10, 0.01);  // 120 us of 1200
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].headline.find("mostly"), std::string::npos);
}

TEST(AccelUtilisation, EveryRankHasTheLogOfItsPlace) {
  Model model;
  AddIdeal(model, {{"bmm", "A", "UNKN", 1}, {"Total", "Total", "UNKN", 1}}, 0);
  AddIdeal(model, {{"bmm", "B", "UNKN", 2}, {"Total", "Total", "UNKN", 2}}, 1, 5);
  model.Append(testing::ImportBytes("flex", Products().Text(), 1 << 20));  // rank 5, input 3
  RunAnalysis(analyses::accel_utilisation::Describe(), model);
  const auto& rows = model.tables.Get<AccelUtilisationTable>();
  EXPECT_EQ(model.pools.Text(rows.category[RowOfKernel(model, "bmm")]), "B");
}

}  // namespace accel_test
}  // namespace debrief
