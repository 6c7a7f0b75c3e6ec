// What the critical path of small timelines is, by hand; and when there is none to tell.
#include <gtest/gtest.h>

#include <random>

#include "tables/profile_critical_path.h"
#include "tables/profile_critical_summary.h"
#include "unit/analyses/profile/fixture.h"

namespace debrief::analyses::profile_critical_path {

const Analysis& Describe();

namespace profile_critical_path_test {

using timeline::kAnnotation;
using timeline::kKernel;
using timeline::kMemcpy;
using timeline::kOp;
using timeline::kRuntime;
using timeline::kSync;

// "0-10 cpu aten::mm (begin); " of the path.
std::string PathOf(Model& model) {
  LinkByCorrelation(model);
  RunAnalysis(Describe(), model);
  timeline::TimelineView view(model, 0);
  const auto& rows = model.tables.Get<ProfileCriticalPathTable>();
  std::string text;
  for (size_t row = 0; row < rows.size(); ++row) {
    text += fmt::format("{}-{} {} {} ({}); ", rows.start_ns[row], rows.end_ns[row],
                        model.pools.Text(rows.bound[row]),
                        rows.slice[row] == kNone32 ? "-" : view.NameOf(rows.slice[row]),
                        model.pools.Text(rows.edge[row]));
  }
  return text;
}

std::string StateOf(const Model& model) {
  const auto& rows = model.tables.Get<ProfileCriticalSummaryTable>();
  return std::string(model.pools.Text(rows.state.at(0)));
}

std::string ReasonOf(const Model& model) {
  return std::string(
      model.pools.Text(model.tables.Get<ProfileCriticalSummaryTable>().reason.at(0)));
}

// Shares are those of the path, and the path has no holes.
void ExpectSumsAreExact(const Model& model) {
  const auto& sum = model.tables.Get<ProfileCriticalSummaryTable>();
  EXPECT_EQ(sum.cpu_ns[0] + sum.data_loading_ns[0] + sum.gpu_compute_ns[0] +
                sum.gpu_communication_ns[0] + sum.gpu_memcpy_ns[0] + sum.kernel_launch_delay_ns[0] +
                sum.kernel_kernel_delay_ns[0],
            sum.total_ns[0]);
  const auto& path = model.tables.Get<ProfileCriticalPathTable>();
  for (size_t row = 1; row < path.size(); ++row)
    EXPECT_EQ(path.start_ns[row], path.end_ns[row - 1]) << "segment " << row;
  EXPECT_EQ(static_cast<int64_t>(path.size()), sum.path_nodes[0]);
}

TEST(ProfileCriticalPath, LeadsFromKernelsToTheHost) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  timeline.AddSlice(thread, {"aten::mm", kOp, 0, 20});
  timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 5, 5, 1});
  timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 12, 3, 2});
  timeline.AddSlice(stream, {"first", kKernel, 14, 30, 1});
  timeline.AddSlice(stream, {"second", kKernel, 46, 10, 2});
  Model model = timeline.Build();
  EXPECT_EQ(PathOf(model),
            "0-5 cpu aten::mm (begin); 5-10 cpu cudaLaunchKernel (thread); 10-14 "
            "kernel_launch_delay first (launch); 14-44 gpu_compute first (launch); 44-46 "
            "kernel_kernel_delay second (stream); 46-56 gpu_compute second (stream); ");
  EXPECT_EQ(StateOf(model), "computed");
  EXPECT_NE(ReasonOf(model).find("one stream"), std::string::npos);
  ExpectSumsAreExact(model);
}

TEST(ProfileCriticalPath, ADeviceThatWaitsForTheHostIsBoundByIt) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 0, 5, 1});
  timeline.AddSlice(thread, {"slow host code", kOp, 10, 80});
  timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 90, 5, 2});
  timeline.AddSlice(stream, {"first", kKernel, 6, 10, 1});
  timeline.AddSlice(stream, {"second", kKernel, 97, 10, 2});
  Model model = timeline.Build();
  EXPECT_EQ(PathOf(model),
            "0-5 cpu cudaLaunchKernel (begin); 5-10 cpu - (thread); 10-90 cpu slow host code "
            "(thread); 90-95 cpu cudaLaunchKernel (thread); 95-97 kernel_launch_delay second "
            "(launch); 97-107 gpu_compute second (launch); ");
}

TEST(ProfileCriticalPath, AHostThatWaitsForTheDeviceIsBoundByIt) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 0, 5, 1});
  timeline.AddSlice(thread, {"cudaDeviceSynchronize", kRuntime, 6, 60, 2});
  timeline.AddSlice(thread, {"aten::item", kOp, 66, 4});
  timeline.AddSlice(stream, {"ncclDevKernel_AllReduce", kKernel, 8, 50, 1});
  Model model = timeline.Build();
  EXPECT_EQ(PathOf(model),
            "0-5 cpu cudaLaunchKernel (begin); 5-8 kernel_launch_delay ncclDevKernel_AllReduce "
            "(launch); 8-58 gpu_communication ncclDevKernel_AllReduce (launch); 58-66 cpu "
            "cudaDeviceSynchronize (wait); 66-70 cpu aten::item (thread); ");
  ExpectSumsAreExact(model);
}

TEST(ProfileCriticalPath, ACopyThatTheCallWaitsForIsOnThePath) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  timeline.AddSlice(thread, {"cudaMemcpyAsync", kRuntime, 0, 50, 1});
  timeline.AddSlice(stream, {"Memcpy DtoH", kMemcpy, 4, 40, 1});
  Model model = timeline.Build();
  EXPECT_EQ(PathOf(model),
            "0-4 kernel_launch_delay Memcpy DtoH (begin); 4-44 gpu_memcpy Memcpy DtoH (launch); "
            "44-50 cpu cudaMemcpyAsync (wait); ");
}

// A kernel on stream 20 waits for an event that was recorded on stream 7 behind "first" and
// before "later".
TimelineFixture TwoStreams(bool with_sync_event) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  int32_t a = timeline.AddStream(7), b = timeline.AddStream(20);
  timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 0, 2, 1});
  timeline.AddSlice(thread, {"cudaEventRecord", kRuntime, 2, 2, 2});
  timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 4, 2, 3});
  timeline.AddSlice(thread, {"cudaStreamWaitEvent", kRuntime, 6, 2, 4});
  timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 8, 2, 5});
  timeline.AddSlice(a, {"first", kKernel, 3, 40, 1});
  timeline.AddSlice(a, {"later", kKernel, 43, 7, 3});
  timeline.AddSlice(b, {"waits", kKernel, 45, 30, 5});
  if (with_sync_event) {
    timeline.AddSlice(b, {"Stream Wait Event", kSync, 44, 0, 4, kNone64, "cuda_sync"});
    auto& works = timeline.part().tables.Edit<TimelineDeviceWorkTable>();
    works.wait_stream.back() = 7;
    works.wait_correlation.back() = 2;
  }
  return timeline;
}

TEST(ProfileCriticalPath, AnEventLeadsToTheOtherStream) {
  TimelineFixture timeline = TwoStreams(true);
  Model model = timeline.Build();
  EXPECT_EQ(PathOf(model),
            "0-2 cpu cudaLaunchKernel (begin); 2-3 kernel_launch_delay first (launch); 3-43 "
            "gpu_compute first (launch); 43-45 kernel_kernel_delay waits (event); 45-75 "
            "gpu_compute waits (event); ");
  EXPECT_EQ(StateOf(model), "computed");
}

TEST(ProfileCriticalPath, SeveralStreamsWithoutSyncEventsTellNothing) {
  TimelineFixture timeline = TwoStreams(false);
  Model model = timeline.Build();
  EXPECT_EQ(PathOf(model), "");
  EXPECT_EQ(StateOf(model), "not_computable");
  EXPECT_NE(ReasonOf(model).find("2 streams"), std::string::npos);
}

TEST(ProfileCriticalPath, AWaitForAnUntoldStreamTellsNothing) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  timeline.AddSlice(thread, {"hipLaunchKernel", kRuntime, 0, 2, 1});
  timeline.AddSlice(thread, {"hipStreamSynchronize", kRuntime, 2, 20, 2});
  timeline.AddSlice(stream, {"first", kKernel, 3, 10, 1});
  Model model = timeline.Build();
  EXPECT_EQ(PathOf(model), "");
  EXPECT_EQ(StateOf(model), "not_computable");
  EXPECT_NE(ReasonOf(model).find("hipStreamSynchronize"), std::string::npos);
}

TEST(ProfileCriticalPath, WorkWithoutAHostTellsNothing) {
  TimelineFixture timeline;
  timeline.AddSlice(timeline.AddStream(7), {"first", kKernel, 3, 10, 1});
  Model model = timeline.Build();
  EXPECT_EQ(PathOf(model), "");
  EXPECT_EQ(StateOf(model), "not_computable");
}

TEST(ProfileCriticalPath, AnIdleThreadWaitsForTheOneThatHandedOver) {
  TimelineFixture timeline;
  int32_t main = timeline.AddThread("1"), backward = timeline.AddThread("2");
  timeline.AddSlice(main, {"forward", kOp, 0, 10});
  timeline.AddSlice(backward, {"MmBackward0", kOp, 12, 20});
  timeline.AddSlice(main, {"optimizer", kOp, 34, 6});
  Model model = timeline.Build();
  EXPECT_EQ(PathOf(model),
            "0-10 cpu forward (begin); 10-12 cpu - (other_thread); 12-32 cpu MmBackward0 (thread); "
            "32-34 cpu - (other_thread); 34-40 cpu optimizer (thread); ");
  EXPECT_EQ(StateOf(model), "computed");
}

TEST(ProfileCriticalPath, TimeInTheDataLoaderIsItsOwn) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  timeline.AddSlice(
      thread, {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", kAnnotation, 0, 30});
  timeline.AddSlice(thread, {"aten::stack", kOp, 10, 5});
  timeline.AddSlice(thread, {"aten::mm", kOp, 30, 10});
  Model model = timeline.Build();
  PathOf(model);
  const auto& sum = model.tables.Get<ProfileCriticalSummaryTable>();
  EXPECT_EQ(sum.data_loading_ns[0], 30);
  EXPECT_EQ(sum.cpu_ns[0], 10);
  EXPECT_DOUBLE_EQ(sum.data_loading_pct[0], 75);
}

TEST(ProfileCriticalPath, TakesTheLastWholeStep) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  for (int64_t i = 0; i < 3; ++i) {
    timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 100 * i, 5, i});
    timeline.AddSlice(stream, {"gemm", kKernel, 100 * i + 10, 80, i});
  }
  Model model = timeline.Build();
  for (int32_t i = 0; i < 3; ++i) {
    AddStep(model, i, {100 * i, 100 * i + 100}, 100 * i + 90);
    model.tables.Edit<TimelineStepTable>().whole.back() = i < 2;
  }
  EXPECT_EQ(PathOf(model),
            "100-105 cpu cudaLaunchKernel (begin); 105-110 kernel_launch_delay gemm (launch); "
            "110-190 gpu_compute gemm (launch); ");
  EXPECT_EQ(model.tables.Get<ProfileCriticalSummaryTable>().step[0], 1);
}

// Whatever the timeline: the walk ends, has no holes, and stays inside.
TEST(ProfileCriticalPath, AnyOrderOfThingsEnds) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    TimelineFixture timeline;
    int32_t threads[] = {timeline.AddThread("1"), timeline.AddThread("2")};
    int32_t streams[] = {timeline.AddStream(7), timeline.AddStream(20)};
    auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
    static constexpr std::string_view kCalls[] = {"cudaLaunchKernel", "cudaDeviceSynchronize",
                                                  "cudaMemcpyAsync"};
    for (int i = 0; i < 12; ++i) {
      timeline.AddSlice(threads[number(2)],
                        {kCalls[number(3)], kRuntime, number(90), number(20), number(12)});
      timeline.AddSlice(streams[number(2)], {"k", number(2) != 0 ? kKernel : kMemcpy, number(90),
                                             number(20) - 1, number(12)});
      timeline.AddSlice(streams[number(2)],
                        {number(2) != 0 ? "Stream Wait Event" : "Event Sync", kSync, number(90), 1,
                         number(12), kNone64, "cuda_sync"});
      auto& works = timeline.part().tables.Edit<TimelineDeviceWorkTable>();
      works.wait_stream.back() = number(2) != 0 ? 7 : 20;
      works.wait_correlation.back() = number(12);
    }
    Model model = timeline.Build();
    PathOf(model);
    if (StateOf(model) != "computed") continue;
    ExpectSumsAreExact(model);
  }
}

}  // namespace profile_critical_path_test
}  // namespace debrief::analyses::profile_critical_path
