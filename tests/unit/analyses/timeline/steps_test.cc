// Steps by the profiler's marks, and by repetition where there are none.
#include <gtest/gtest.h>

#include "analyses/timeline/steps/period.h"
#include "tables/timeline_step.h"
#include "unit/model/timeline_fixture.h"

namespace debrief::analyses::timeline_steps {

const Analysis& Describe();

namespace timeline_steps_test {

using timeline::kAnnotation;
using timeline::kDeviceAnnotation;
using timeline::kKernel;
using timeline::kMemcpy;
using timeline::kOp;
using timeline::kRuntime;

TimelineStepTable& StepsOf(Model& model) {
  RunAnalysis(Describe(), model);
  return model.tables.Edit<TimelineStepTable>();
}

TEST(TimelineSteps, MarksOfTheProfiler) {
  TimelineFixture fixture;
  const int32_t thread = fixture.AddThread(), stream = fixture.AddStream(7);
  fixture.AddSlice(thread, {"ProfilerStep#7", kAnnotation, 0, 100});
  fixture.AddSlice(thread, {"ProfilerStep#7", kOp, 1, 98});
  fixture.AddSlice(thread, {"ProfilerStep#8", kAnnotation, 100, 100});
  fixture.AddSlice(stream, {"ProfilerStep#7", kDeviceAnnotation, 50, 100});
  fixture.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 90, 5, 1});
  fixture.AddSlice(stream, {"gemm", kKernel, 120, 30, 1});
  Model model = fixture.Build();
  const auto& steps = StepsOf(model);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps.label[0], 7);
  EXPECT_EQ(steps.label[1], 8);
  EXPECT_EQ(steps.end_ns[0], 100);
  EXPECT_EQ(steps.device_start_ns[0], 120);
  EXPECT_EQ(steps.device_end_ns[0], 150);
  EXPECT_EQ(steps.launches[0], 1);
  EXPECT_EQ(steps.device_start_ns[1], kNone64);
  EXPECT_EQ(steps.whole[0], 1);
  EXPECT_EQ(steps.whole[1], 0);  // nothing was launched in it any more
}

// Ten names in each of `steps` steps; `copies` tells whether each takes input, `waits` whether the
// host waits for each.
Model Loop(int steps, bool copies, bool waits = false) {
  TimelineFixture fixture;
  const int32_t stream = fixture.AddStream(7), thread = fixture.AddThread();
  int64_t time = 0;
  for (int step = 0; step < steps; ++step) {
    fixture.AddSlice(stream,
                     {copies ? "Memcpy HtoD (Pinned -> Device)" : "copy", kMemcpy, time, 5});
    for (std::string_view name : {"a", "b", "b", "c", "b", "d", "b", "e", "f"})
      fixture.AddSlice(stream, {name, kKernel, time += 10, 5});
    if (waits) fixture.AddSlice(thread, {"cudaStreamSynchronize", kRuntime, time, 50});
    time += 100;
  }
  return fixture.Build();
}

TEST(TimelineSteps, RepetitionWithoutMarks) {
  Model model = Loop(8, true);
  const auto& steps = StepsOf(model);
  ASSERT_EQ(steps.size(), 8u);
  EXPECT_EQ(steps.label[0], kNone64);
  EXPECT_EQ(model.pools.Text(steps.source[0]), "period");
  EXPECT_EQ(steps.start_ns[1] - steps.start_ns[0], 190);
  for (size_t row = 0; row < steps.size(); ++row) EXPECT_EQ(steps.launches[row], 10);
}

// Layers of one forward pass repeat, too, and are no steps.
TEST(TimelineSteps, RepetitionWithoutInputIsNoStep) {
  Model model = Loop(8, false);
  EXPECT_EQ(StepsOf(model).size(), 0u);
}

TEST(TimelineSteps, RepetitionThatTheHostWaitsFor) {
  Model model = Loop(8, false, true);
  EXPECT_EQ(StepsOf(model).size(), 8u);
}

TEST(TimelineSteps, AnchorsOfAPeriod) {
  std::vector<uint32_t> names;
  for (int i = 0; i < 5; ++i) names.insert(names.end(), {0, 1, 1, 2, 1});
  EXPECT_EQ(FindAnchors(names, 3), (std::vector<size_t>{0, 5, 10, 15, 20}));
}

TEST(TimelineSteps, NoPeriodInWhatOnlyBeginsTheSame) {
  std::vector<uint32_t> names;
  for (uint32_t i = 0; i < 5; ++i) names.insert(names.end(), {0, 1 + i, 1 + i, 1 + i, 1 + i});
  EXPECT_TRUE(FindAnchors(names, 6).empty());
  EXPECT_TRUE(FindAnchors({}, 0).empty());
}

}  // namespace timeline_steps_test
}  // namespace debrief::analyses::timeline_steps
