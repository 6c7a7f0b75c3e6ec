// What the writer, the joiner and the view make of events: order, pairs, nesting, arrows, classes.
#include "tables/timeline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/timeline/device_time.h"
#include "tables/timeline_process.h"
#include "timeline_fixture.h"

namespace debrief::timeline {
namespace timeline_test {

// "outer 0+10; inner 2+3 in outer; " of one track after the other.
std::string Slices(const TimelineView& view) {
  std::string text;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    size_t at = TimelineView::At(slice);
    text += fmt::format("{} {}+{}", view.NameOf(slice), view.start[at], view.duration[at]);
    if (view.parent[at] != kNone32) text += fmt::format(" in {}", view.NameOf(view.parent[at]));
    text += "; ";
  }
  return text;
}

std::string SlicesOf(TimelineFixture& timeline) {
  Model model = timeline.Build();
  return Slices(TimelineView(model, 0));
}

TEST(Timeline, SlicesAreSortedByTrackStartAndFallingDuration) {
  TimelineFixture timeline;
  int32_t a = timeline.AddThread("1"), b = timeline.AddThread("2");
  timeline.AddSlice(b, {"late", kOp, 9, 1});
  timeline.AddSlice(a, {"short", kOp, 5, 1});
  timeline.AddSlice(a, {"long", kOp, 5, 4});
  timeline.AddSlice(b, {"early", kOp, 0, 1});
  timeline.AddSlice(a, {"first", kOp, 1, 2});
  EXPECT_EQ(SlicesOf(timeline), "first 1+2; long 5+4; short 5+1 in long; early 0+1; late 9+1; ");
}

TEST(Timeline, EqualSlicesKeepTheOrderOfTheFile) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  timeline.AddSlice(thread, {"z", kOp, 5, 2});
  timeline.AddSlice(thread, {"outer", kOp, 5, 2});
  timeline.AddSlice(thread, {"a", kOp, 5, 2});
  EXPECT_EQ(SlicesOf(timeline), "z 5+2; outer 5+2 in z; a 5+2 in outer; ");
}

TEST(Timeline, DetailsFollowTheirSlices) {
  TimelineFixture timeline;
  int32_t stream = timeline.AddStream(7), other = timeline.AddStream(9);
  timeline.AddSlice(other, {"on 9", kKernel, 0, 1});
  timeline.AddSlice(stream, {"second on 7", kKernel, 5, 1});
  timeline.AddSlice(stream, {"first on 7", kKernel, 1, 1});
  Model model = timeline.Build();
  TimelineView view(model, 0);
  const auto& works = model.tables.Get<TimelineDeviceWorkTable>();
  ASSERT_EQ(view.works.size(), 3u);
  EXPECT_EQ(works.slice, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(works.stream, (std::vector<int64_t>{7, 7, 9}));
  EXPECT_EQ(SliceNamed(view, "on 9"), 2);
  EXPECT_FALSE(view.OpRow(0).has_value());
}

TEST(Timeline, BeginsAndEndsPairLikeBrackets) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  timeline.AddBegin(thread, {"outer", kOp, 0});
  timeline.AddBegin(thread, {"inner", kOp, 2});
  timeline.AddEnd(thread, 5);
  timeline.AddEnd(thread, 9);
  EXPECT_EQ(SlicesOf(timeline), "outer 0+9; inner 2+3 in outer; ");
  EXPECT_EQ(timeline.counts().never_ended + timeline.counts().never_begun, 0);
}

TEST(Timeline, TheIdOfAnOpIsNoIdOfAPair) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  timeline.AddBegin(thread, {"outer", kOp, 0, 0, kNone64, 31});
  timeline.AddBegin(thread, {"inner", kOp, 2, 0, kNone64, 32});
  timeline.AddEnd(thread, 5);
  timeline.AddEnd(thread, 9);
  Model model = timeline.Build();
  TimelineView view(model, 0);
  EXPECT_EQ(Slices(view), "outer 0+9; inner 2+3 in outer; ");
  EXPECT_EQ(view.external_id[1], 32);
}

TEST(Timeline, AsynchronousPairsGoByTheirId) {
  TimelineFixture timeline;
  int32_t track = timeline.writer().Track("100", "requests", kAsync);
  timeline.AddBegin(track, {"a", kAsync, 0}, 1);
  timeline.AddBegin(track, {"b", kAsync, 2}, 2);
  timeline.AddEnd(track, 6, 1);
  timeline.AddEnd(track, 9, 2);
  EXPECT_EQ(SlicesOf(timeline), "a 0+6; b 2+7; ");
}

TEST(Timeline, AnOpenBeginLastsUntilTheEndAndALoneEndIsNothing) {
  TimelineFixture timeline;
  int32_t a = timeline.AddThread("1"), b = timeline.AddThread("2");
  timeline.AddEnd(a, 1);
  timeline.AddBegin(a, {"open", kOp, 3});
  timeline.AddSlice(b, {"last", kOp, 10, 20});
  EXPECT_EQ(SlicesOf(timeline), "open 3+27; last 10+20; ");
  EXPECT_EQ(timeline.counts().never_ended, 1);
  EXPECT_EQ(timeline.counts().never_begun, 1);
}

TEST(Timeline, PairsThatTheFileHasOutOfOrder) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  timeline.AddEnd(thread, 9);
  timeline.AddEnd(thread, 5);
  timeline.AddBegin(thread, {"inner", kOp, 2});
  timeline.AddBegin(thread, {"outer", kOp, 0});
  EXPECT_EQ(SlicesOf(timeline), "outer 0+9; inner 2+3 in outer; ");
}

TEST(Timeline, PartsShareTracksAndPairs) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread("2");
  timeline.AddBegin(thread, {"outer", kOp, 0});
  timeline.NextPart();
  (void)timeline.AddThread("1");
  thread = timeline.AddThread("2");
  timeline.writer().tracks().name[static_cast<size_t>(thread)] = timeline.writer().Intern("main");
  timeline.AddSlice(thread, {"inner", kOp, 2, 3});
  timeline.AddEnd(thread, 9);
  timeline.AddSlice(timeline.AddStream(7), {"gemm", kKernel, 4, 1});
  Model model = timeline.Build();
  TimelineView view(model, 0);
  EXPECT_EQ(Slices(view), "outer 0+9; inner 2+3 in outer; gemm 4+1; ");
  const auto& tracks = model.tables.Get<TimelineTrackTable>();
  ASSERT_EQ(tracks.size(), 3u);
  EXPECT_EQ(model.pools.Text(tracks.name[0]), "main");
  EXPECT_EQ(tracks.slices, (std::vector<int32_t>{2, 0, 1}));
  EXPECT_EQ(tracks.first_slice, (std::vector<int32_t>{0, 2, 2}));
  EXPECT_EQ(tracks.stream[2], 7);
  EXPECT_EQ(model.tables.Get<TimelineProcessTable>().size(), 2u);
  EXPECT_EQ(model.tables.Get<TimelineDeviceWorkTable>().slice[0], 2);
}

TEST(Timeline, OverlapWithoutNestingIsNoNesting) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  timeline.AddSlice(thread, {"root", kOp, 0, 20});
  timeline.AddSlice(thread, {"a", kOp, 1, 9});
  timeline.AddSlice(thread, {"b", kOp, 5, 10});
  timeline.AddSlice(thread, {"in b", kOp, 6, 2});
  timeline.AddSlice(thread, {"after a", kOp, 11, 1});
  timeline.AddSlice(thread, {"next", kOp, 20, 1});
  EXPECT_EQ(SlicesOf(timeline),
            "root 0+20; a 1+9 in root; b 5+10 in root; in b 6+2 in b; after a 11+1 in b; "
            "next 20+1; ");
}

TEST(Timeline, ManyThatOverlapCostNoMoreThanOthers) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  constexpr int64_t kMany = 200'000;
  for (int64_t i = 0; i < kMany; ++i) timeline.AddSlice(thread, {"a", kOp, i, kMany});
  Model model = timeline.Build();
  EXPECT_EQ(TimelineView(model, 0).parent.back(), kNone32);
}

TEST(Timeline, SlicesOfStreamsAreNotNested) {
  TimelineFixture timeline;
  int32_t stream = timeline.AddStream(7);
  timeline.AddSlice(stream, {"long", kKernel, 0, 20});
  timeline.AddSlice(stream, {"short", kKernel, 1, 2});
  EXPECT_EQ(SlicesOf(timeline), "long 0+20; short 1+2; ");
}

TEST(Timeline, ArrowsEndAtTheInnermostSlice) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), other = timeline.AddThread("2");
  timeline.AddFlow(other, 4, 1, kFlowEnd);
  timeline.AddFlow(thread, 3, 1, kFlowStart);
  timeline.AddFlow(thread, 10, 2, kFlowStart);
  timeline.AddFlow(thread, 0, 3, kFlowStart);
  timeline.AddSlice(thread, {"outer", kOp, 0, 10});
  timeline.AddSlice(thread, {"inner", kOp, 2, 3});
  timeline.AddSlice(other, {"backward", kOp, 4, 3});
  Model model = timeline.Build();
  TimelineView view(model, 0);
  const auto& bound = model.tables.Get<TimelineFlowTable>().slice;
  ASSERT_EQ(bound.size(), 4u);
  EXPECT_EQ(bound[0], SliceNamed(view, "backward"));
  EXPECT_EQ(bound[1], SliceNamed(view, "inner"));
  EXPECT_EQ(bound[2], kNone32) << "slices are over at their end";
  EXPECT_EQ(bound[3], SliceNamed(view, "outer"));
}

TEST(Timeline, TimesCountFromTheBaseAndSpansDoNotWidenTheTimeline) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  timeline.AddSlice(thread, {"PyTorch Profiler (0)", kSpan, 0, 500});
  timeline.AddSlice(thread, {"op", kOp, 10, 5});
  timeline.AddSlice(thread, {"negative", kOp, 20, -9});
  Model model = timeline.Build({.producer = "kineto", .base_ns = 1000, .events = 3});
  const auto& rows = model.tables.Get<TimelineTable>();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.start_ns[0], 1010);
  EXPECT_EQ(rows.end_ns[0], 1020);
  EXPECT_EQ(rows.events[0], 3);
}

TEST(Timeline, EachViewSeesItsOwnInput) {
  Model model;
  for (int32_t input : {0, 1}) {
    TimelineFixture timeline({.input = input, .job = 0, .attempt = 0, .rank = input});
    timeline.AddSlice(timeline.AddThread(), {input == 0 ? "a" : "b", kOp, input, 5});
    timeline.BuildInto(model);
  }
  auto views = Timelines(model);
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(Slices(views[0]), "a 0+5; ");
  EXPECT_EQ(Slices(views[1]), "b 1+5; ");
  EXPECT_EQ(views[1].who.rank, 1);
}

TEST(Timeline, ATimelineWithoutSlices) {
  TimelineFixture timeline;
  Model model = timeline.Build();
  TimelineView view(model, 0);
  EXPECT_EQ(view.slice_count(), 0);
  EXPECT_EQ(model.tables.Get<TimelineTable>().start_ns[0], kNone64);
}

TEST(Timeline, ClassesOfDeviceWork) {
  TimelineFixture timeline;
  int32_t stream = timeline.AddStream(7), thread = timeline.AddThread();
  timeline.AddSlice(stream, {"ampere_sgemm_128x64", kKernel, 0, 1});
  timeline.AddSlice(stream, {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", kKernel, 1, 1});
  timeline.AddSlice(stream, {"void vllm::cross_device_reduce_1stage<half>", kKernel, 2, 1});
  timeline.AddSlice(stream, {"Memcpy HtoD", kMemcpy, 3, 1});
  timeline.AddSlice(stream, {"Memset", kMemset, 4, 1});
  timeline.AddSlice(stream, {"Stream Sync", kSync, 5, 1});
  timeline.AddSlice(stream, {"nccl:all_reduce", kDeviceAnnotation, 6, 1});
  timeline.AddSlice(thread, {"nccl:all_reduce", kAnnotation, 0, 1});
  Model model = timeline.Build();
  TimelineView view(model, 0);
  DeviceClasses classes(model);
  std::string text;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice)
    (text += DeviceClassName(classes.Of(view, slice))) += ' ';
  EXPECT_EQ(text, "compute communication communication memcpy memset sync none none ");
}

TEST(Timeline, KindsOfCategoriesOldAndNew) {
  EXPECT_EQ(KindOfCategory("Kernel"), kKernel);
  EXPECT_EQ(KindOfCategory("kernel"), kKernel);
  EXPECT_EQ(KindOfCategory("Operator"), kOp);
  EXPECT_EQ(KindOfCategory("cuda_runtime"), kRuntime);
  EXPECT_EQ(KindOfCategory("of another program"), kOther);
  EXPECT_TRUE(IsDeviceKind(kSync));
  EXPECT_FALSE(IsDeviceKind(kRuntime));
}

}  // namespace timeline_test
}  // namespace debrief::timeline
