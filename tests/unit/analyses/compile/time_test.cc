// Phases, compilations and kernels of logs made by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyses/compile/time/phases.h"
#include "tables/compile_autotune.h"
#include "tables/compile_kernel.h"
#include "tables/compile_phase.h"
#include "tables/compile_phase_total.h"
#include "tables/compile_span.h"
#include "unit/analyses/compile/event_builder.h"

namespace debrief::analyses::compile_time {

const Analysis& Describe();

namespace compile_time_test {

// "dynamo 0-10 self 4 depth 0; ..." in milliseconds.
std::string Phases(const Model& model) {
  const auto& phases = model.tables.Get<CompilePhaseTable>();
  std::string text;
  for (size_t i = 0; i < phases.size(); ++i) {
    text +=
        fmt::format("{} {}-{} self {} depth {}{}; ", model.pools.Text(phases.name[i]),
                    phases.start_ns[i] / 1000000, phases.end_ns[i] / 1000000,
                    phases.self_ns[i] / 1000000, phases.depth[i], phases.open[i] ? " open" : "");
  }
  return text;
}

TEST(CompileTime, NestedPhasesHaveTheirOwnTime) {
  CompileLogBuilder log;
  log.Log(0);
  AddEvent(log, {"B", "dynamo", 0});
  AddEvent(log, {"B", "backend_compile", 2});
  AddEvent(log, {"B", "inductor_compile", 3});
  AddEvent(log, {"E", "inductor_compile", 7});
  AddEvent(log, {"E", "backend_compile", 8});
  AddEvent(log, {"E", "dynamo", 10});
  log.Run(Describe());
  EXPECT_EQ(Phases(log.model()),
            "dynamo 0-10 self 4 depth 0; backend_compile 2-8 self 2 depth 1; inductor_compile 3-7 "
            "self 4 depth 2; ");
  const auto& spans = log.model().tables.Get<CompileSpanTable>();
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_DOUBLE_EQ(spans.seconds[0], 0.010);
  EXPECT_DOUBLE_EQ(spans.dynamo_s[0], 0.004);
  EXPECT_DOUBLE_EQ(spans.aot_s[0], 0.002);
  EXPECT_DOUBLE_EQ(spans.inductor_s[0], 0.004);
  EXPECT_TRUE(spans.ended[0]);
}

TEST(CompileTime, AnOpenPhaseEndsWithTheLog) {
  CompileLogBuilder log;
  log.Log(0);
  AddEvent(log, {"B", "dynamo", 0});
  AddEvent(log, {"B", "inductor_compile", 5});
  AddEvent(log, {"i", "fx_graph_cache_miss", 9});
  log.Run(Describe());
  EXPECT_EQ(Phases(log.model()),
            "dynamo 0-9 self 5 depth 0 open; inductor_compile 5-9 self 4 depth 1 open; ");
  EXPECT_FALSE(log.model().tables.Get<CompileSpanTable>().ended[0]);
}

TEST(CompileTime, AnEndWithoutABeginIsNothing) {
  CompileLogBuilder log;
  log.Log(0);
  AddEvent(log, {"E", "dynamo", 5});
  AddEvent(log, {"B", "gc", 6});
  AddEvent(log, {"E", "dynamo", 7});
  AddEvent(log, {"E", "gc", 8});
  log.Run(Describe());
  EXPECT_EQ(Phases(log.model()), "gc 6-8 self 2 depth 0; ");
}

TEST(CompileTime, OverlappingPhasesEndByName) {
  CompileLogBuilder log;
  log.Log(0);
  AddEvent(log, {"B", "a", 0});
  AddEvent(log, {"B", "b", 1});
  AddEvent(log, {"E", "a", 2});
  AddEvent(log, {"E", "b", 9});
  log.Run(Describe());
  EXPECT_EQ(Phases(log.model()), "a 0-2 self 2 depth 0; b 1-9 self 8 depth 1; ");
}

TEST(CompileTime, ThreadsAndHelpersHaveStacksOfTheirOwn) {
  CompileLogBuilder log;
  log.Log(0);
  AddEvent(log, {"B", "dynamo", 0});
  AddEvent(log, {.phase = "B", .name = "compile_file", .ms = 1, .compile_id = "-/-"});
  AddEvent(log, {.phase = "B", .name = "dynamo", .ms = 2, .compile_id = "1/0", .thread = 2});
  AddEvent(log, {"E", "dynamo", 4});
  AddEvent(log, {.phase = "E", .name = "compile_file", .ms = 6, .compile_id = "-/-"});
  AddEvent(log, {.phase = "E", .name = "dynamo", .ms = 8, .compile_id = "1/0", .thread = 2});
  log.Run(Describe());
  EXPECT_EQ(Phases(log.model()),
            "dynamo 0-4 self 4 depth 0; compile_file 1-6 self 5 depth 0; dynamo 2-8 self 6 depth "
            "0; ");
}

TEST(CompileTime, LivesDoNotCloseEachOthersPhases) {
  CompileLogBuilder log;
  log.Log(0);
  AddEvent(log, {"B", "dynamo", 0});
  AddEvent(log, {.phase = "B", .name = "dynamo", .ms = 100, .life = 1});
  AddEvent(log, {.phase = "E", .name = "dynamo", .ms = 103, .life = 1});
  log.Run(Describe());
  EXPECT_EQ(Phases(log.model()), "dynamo 0-0 self 0 depth 0 open; dynamo 100-103 self 3 depth 0; ");
  EXPECT_EQ(log.model().tables.Get<CompileSpanTable>().size(), 2u);
}

TEST(CompileTime, TotalsCountPhasesInsideOfThemselvesOnce) {
  CompileLogBuilder log;
  log.Log(3);
  AddEvent(log, {"B", "dynamo", 0});
  AddEvent(log, {.phase = "B", .name = "dynamo", .ms = 2, .compile_id = "1/0"});
  AddEvent(log, {.phase = "E", .name = "dynamo", .ms = 6, .compile_id = "1/0"});
  AddEvent(log, {"E", "dynamo", 10});
  AddEvent(log, {.phase = "X", .name = "gc", .ms = 20, .duration_ms = 10});
  log.Run(Describe());
  const auto& totals = log.model().tables.Get<CompilePhaseTotalTable>();
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals.rank[0], 3);
  EXPECT_EQ(totals.count[0], 2);
  EXPECT_EQ(totals.total_ns[0], 10'000'000);
  EXPECT_EQ(totals.self_ns[0], 10'000'000);
  EXPECT_DOUBLE_EQ(totals.share[0], 0.5);
  EXPECT_EQ(totals.total_ns[1], 10'000'000);
}

TEST(CompileTime, HostileTimesAndDepthsAreBounded) {
  CompileLogBuilder log;
  log.Log(0);
  constexpr int64_t kFar = INT64_MAX / 1'000'000;
  for (int i = 0; i < 5; ++i) {
    AddEvent(log, {"B", "a", -kFar});
    AddEvent(log, {"E", "a", kFar});
    AddEvent(log, {.phase = "X", .name = "x", .ms = kFar, .duration_ms = kFar});
    AddEvent(log, {"B", "back", 10});
    AddEvent(log, {"E", "back", 5});
  }
  for (int i = 0; i < 20000; ++i) AddEvent(log, {"B", i % 2 ? "deep" : "deeper", 1});
  for (int i = 0; i < 20000; ++i) AddEvent(log, {"E", "deep", 2});
  log.Run(Describe());
  const auto& phases = log.model().tables.Get<CompilePhaseTable>();
  for (size_t i = 0; i < phases.size(); ++i) {
    ASSERT_GE(phases.self_ns[i], 0);
    ASSERT_LE(phases.depth[i], static_cast<int32_t>(kMostDepth));
    ASSERT_LE(phases.start_ns[i], phases.end_ns[i]);
  }
}

TEST(CompileTime, AttemptsAreOneCompilationNamedByItsFunction) {
  CompileLogBuilder log;
  log.Log(0);
  AddStart(log, "forward", 27, 0);
  AddEvent(log, {"B", "dynamo", 0});
  AddEvent(log, {.phase = "E", .name = "dynamo", .ms = 4, .compile_id = "0/0_1"});
  log.Run(Describe());
  const auto& spans = log.model().tables.Get<CompileSpanTable>();
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(log.model().pools.Text(spans.function[0]), "forward");
  EXPECT_EQ(spans.line[0], 27);
  EXPECT_EQ(spans.entry[0], 0);
  EXPECT_DOUBLE_EQ(spans.seconds[0], 0.004);
}

TEST(CompileTime, WithoutEventsMetricsTell) {
  CompileLogBuilder log;
  log.Log(0).Add({.name = "x"});
  CompileMetricsRow row;
  row.job = row.attempt = row.rank = row.input = 0;
  row.entry = 0;
  row.kind = log.model().pools.Intern("compilation_metrics");
  row.compile_id = log.model().pools.Intern("0/0");
  row.co_name = log.model().pools.Intern("f");
  row.entire_frame_compile_time_s = 10;
  row.backend_compile_time_s = 8;
  row.inductor_compile_time_s = 5;
  row.code_gen_time_s = 2;
  row.start_time = 1000;
  log.model().tables.Edit<CompileMetricsTable>().Add(row);
  log.Run(Describe());
  const auto& spans = log.model().tables.Get<CompileSpanTable>();
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(log.model().pools.Text(spans.told_by[0]), "metrics");
  EXPECT_DOUBLE_EQ(spans.seconds[0], 10);
  EXPECT_DOUBLE_EQ(spans.dynamo_s[0], 2);
  EXPECT_DOUBLE_EQ(spans.aot_s[0], 3);
  EXPECT_DOUBLE_EQ(spans.inductor_s[0], 3);
  EXPECT_DOUBLE_EQ(spans.codegen_s[0], 2);
  EXPECT_EQ(spans.end_ns[0], 1010'000'000'000);
}

TEST(CompileTime, ReadsKernelsAndChoices) {
  CompileLogBuilder log;
  log.Log(0).Add({.name = "triton_kernel_info",
                  .payload = R"({"k1": {"compile_time_us": 5000, "num_configs": 2,
                     "autotune_cache_state": "miss"}, "k2": {"only_config": [["XBLOCK", 8]]}, "bad": 3})"});
  AddEvent(log, {.phase = "B", .name = "mm_template_precompiling", .ms = 0});
  AddEvent(
      log,
      {.phase = "E",
       .name = "mm_template_precompiling",
       .ms = 5,
       .payload =
           R"({"args": {"metadata": "{\"exceptions\": [{\"exception_message\": \"too big\"}, {}]}"}})"});
  AddEvent(log, {.phase = "B", .name = "mm_template_autotuning", .ms = 6});
  AddEvent(log, {.phase = "E",
                 .name = "mm_template_autotuning",
                 .ms = 8,
                 .payload = R"({"args": {"autotune_shape": "4x4", "autotune_choices_stats":
                    "{\"num_choices\": 3, \"best_kernel\": \"triton_mm_1\", \"best_time\": 0.5}"}})"});
  AddEvent(log, {.phase = "B",
                 .name = "CachingAutotuner.benchmark_all_configs",
                 .ms = 10,
                 .compile_id = "-/-"});
  AddEvent(log, {.phase = "E",
                 .name = "CachingAutotuner.benchmark_all_configs",
                 .ms = 13,
                 .compile_id = "-/-",
                 .payload = R"({"args": {"kernel_name": "k1", "compile_id": "0/0"}})"});
  log.Run(Describe());
  const Model& model = log.model();
  const auto& kernels = model.tables.Get<CompileKernelTable>();
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_DOUBLE_EQ(kernels.seconds[0], 0.005);
  EXPECT_EQ(kernels.configs[0], 2);
  EXPECT_EQ(model.pools.Text(kernels.config[1]), R"([["XBLOCK", 8]])");
  EXPECT_EQ(model.pools.Text(kernels.kernel[2]), "k1");
  EXPECT_EQ(model.pools.Text(kernels.compile_id[2]), "0/0");
  EXPECT_DOUBLE_EQ(kernels.seconds[2], 0.003);
  const auto& tuned = model.tables.Get<CompileAutotuneTable>();
  ASSERT_EQ(tuned.size(), 1u);
  EXPECT_EQ(tuned.choices[0], 3);
  EXPECT_DOUBLE_EQ(tuned.best_ms[0], 0.5);
  EXPECT_DOUBLE_EQ(tuned.precompile_seconds[0], 0.005);
  EXPECT_EQ(tuned.failed[0], 2);
  EXPECT_EQ(model.pools.Text(tuned.failure[0]), "too big");
}

TEST(CompileTime, OneFunctionThatDominatesIsNamed) {
  CompileLogBuilder log;
  log.Log(0);
  AddStart(log, "slow", 3, 0);
  AddStart(log, "quick", 9, 1);
  AddEvent(log, {"B", "dynamo", 0});
  AddEvent(log, {"E", "dynamo", 20000});
  AddEvent(log, {.phase = "B", .name = "dynamo", .ms = 20000, .compile_id = "1/0"});
  AddEvent(log, {.phase = "E", .name = "dynamo", .ms = 24000, .compile_id = "1/0"});
  auto findings = log.Run(Describe());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "compile.one_frame_dominates");
  EXPECT_EQ(findings[0].headline,
            "slow (file.py:3) takes 83 % of the compile time: 20.0 s in 1 compilation");
}

TEST(CompileTime, AreasAreKnownByHowNamesBegin) {
  EXPECT_EQ(AreaOf("compile_attempt_7"), Area::kDynamo);
  EXPECT_EQ(AreaOf("GraphLowering.run"), Area::kInductor);
  EXPECT_EQ(AreaOf("GraphLowering.codegen"), Area::kCodegen);
  EXPECT_EQ(AreaOf("bmm_template_autotuning"), Area::kTriton);
  EXPECT_EQ(AreaOf("something new"), Area::kOther);
}

}  // namespace compile_time_test
}  // namespace debrief::analyses::compile_time
