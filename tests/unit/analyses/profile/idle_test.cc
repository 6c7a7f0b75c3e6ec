// Gaps and their causes, by hand and against a count of single nanoseconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "model/timeline/host_activity.h"
#include "tables/profile_gap.h"
#include "tables/profile_idle.h"
#include "unit/analyses/profile/fixture.h"

namespace debrief::analyses::profile_idle {

const Analysis& Describe();

namespace profile_idle_test {

using timeline::HostClass;
using timeline::HostClassOf;

using timeline::kAnnotation;
using timeline::kKernel;
using timeline::kOp;
using timeline::kPython;
using timeline::kRuntime;

constexpr int64_t kUs = 1000;

// A kernel until 10 us, another from 110 us on; the host launches the second at `launch_us`.
class OneGap {
 public:
  explicit OneGap(int64_t launch_us) {
    thread_ = timeline_.AddThread();
    int32_t stream = timeline_.AddStream(7);
    timeline_.AddSlice(thread_, {"cudaLaunchKernel", kRuntime, 0, kUs, 1});
    timeline_.AddSlice(stream, {"before", kKernel, 2 * kUs, 8 * kUs, 1});
    timeline_.AddSlice(thread_, {"cudaLaunchKernel", kRuntime, launch_us * kUs, kUs, 2});
    timeline_.AddSlice(stream, {"behind", kKernel, 110 * kUs, 10 * kUs, 2});
  }

  OneGap& Host(std::string_view name, std::string_view kind, int64_t from_us, int64_t until_us) {
    timeline_.AddSlice(thread_, {name, kind, from_us * kUs, (until_us - from_us) * kUs});
    return *this;
  }

  // "cause detail host", of the only gap.
  std::string Cause() {
    Model model = timeline_.Build();
    LinkByCorrelation(model);
    RunAnalysis(Describe(), model);
    const auto& idle = model.tables.Get<ProfileIdleTable>();
    const auto& gaps = model.tables.Get<ProfileGapTable>();
    if (idle.size() != 1 || gaps.size() != 1) return "not one gap";
    EXPECT_EQ(idle.idle_ns[0], 100 * kUs);
    EXPECT_EQ(gaps.duration_ns[0], 100 * kUs);
    EXPECT_EQ(model.pools.Text(gaps.work[0]), "behind");
    EXPECT_EQ(idle.category[0], gaps.cause[0]);
    return fmt::format("{} {} {}", model.pools.Text(idle.category[0]),
                       model.pools.Text(idle.detail[0]), model.pools.Text(gaps.host[0]));
  }

 private:
  TimelineFixture timeline_;
  int32_t thread_ = 0;
};

TEST(ProfileIdle, TheHostDoesSomethingElse) {
  EXPECT_EQ(OneGap(105).Host("aten::add", kOp, 20, 90).Cause(), "host op aten::add");
  EXPECT_EQ(OneGap(105)
                .Host("train.py(3): step", kPython, 1, 108)
                .Host("<built-in sleep>", kPython, 11, 100)
                .Cause(),
            "host python <built-in sleep>");
}

TEST(ProfileIdle, TheHostDoesNothingThatIsRecorded) {
  EXPECT_EQ(OneGap(105).Cause(), "host nothing cudaLaunchKernel");
  EXPECT_EQ(OneGap(105).Host("ProfilerStep#3", kAnnotation, 0, 200).Cause(),
            "host nothing cudaLaunchKernel");
}

TEST(ProfileIdle, LoadingData) {
  EXPECT_EQ(OneGap(105)
                .Host("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", kAnnotation,
                      12, 90)
                .Cause(),
            "data_loading  enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
}

TEST(ProfileIdle, WaitingForTheDevice) {
  EXPECT_EQ(OneGap(105)
                .Host("aten::item", kOp, 3, 16)
                .Host("cudaStreamSynchronize", kRuntime, 4, 15)
                .Cause(),
            "sync  cudaStreamSynchronize");
  EXPECT_EQ(OneGap(105).Host("cudaDeviceSynchronize", kRuntime, 20, 100).Cause(),
            "sync  cudaDeviceSynchronize");
  EXPECT_EQ(OneGap(105)
                .Host("cudaStreamSynchronize", kRuntime, 4, 9)
                .Host("aten::add", kOp, 20, 90)
                .Cause(),
            "host op aten::add")
      << "it was over when the gap began";
}

TEST(ProfileIdle, LoadingDataAfterAWaitIsLoadingData) {
  EXPECT_EQ(OneGap(105)
                .Host("cudaStreamSynchronize", kRuntime, 4, 15)
                .Host("enumerate(DataLoader)#x", kAnnotation, 20, 100)
                .Cause(),
            "data_loading  enumerate(DataLoader)#x");
}

TEST(ProfileIdle, CompilingAndAllocating) {
  EXPECT_EQ(OneGap(105).Host("entire_frame_compile (dynamo_timed)", kOp, 12, 100).Cause(),
            "compile  entire_frame_compile (dynamo_timed)");
  EXPECT_EQ(OneGap(105).Host("cudaMalloc", kRuntime, 12, 100).Cause(),
            "memory_allocation  cudaMalloc");
}

TEST(ProfileIdle, LaunchedBeforeTheGap) {
  EXPECT_EQ(OneGap(5).Cause(), "other queued ") << "longer than a device takes by itself";
  EXPECT_EQ(OneGap(20).Host("aten::add", kOp, 30, 109).Cause(), "other queued aten::add")
      << "the launch came early in the gap, and the device let it lie";
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, 1, 1, 2});
  timeline.AddSlice(stream, {"a", kKernel, 10, 10, 1});
  timeline.AddSlice(stream, {"b", kKernel, 25, 10, 2});
  timeline.AddSlice(stream, {"c", kKernel, 45, 10, 3});
  Model model = timeline.Build();
  LinkByCorrelation(model);
  RunAnalysis(Describe(), model);
  const auto& idle = model.tables.Get<ProfileIdleTable>();
  ASSERT_EQ(idle.size(), 2u);
  EXPECT_EQ(model.pools.Text(idle.category[0]), "kernel_wait");
  EXPECT_EQ(idle.idle_ns[0], 5);
  EXPECT_EQ(model.pools.Text(idle.category[1]), "other") << "its launch is not shown";
  EXPECT_EQ(idle.idle_ns[1], 10);
}

TEST(ProfileIdle, GapsAfterGraphsThatAreNotShown) {
  EXPECT_EQ(OneGap(105).Host("cudaGraphLaunch", kRuntime, 5, 6).Cause().substr(0, 5), "graph");
}

TEST(ProfileIdle, ClassesOfNames) {
  EXPECT_EQ(HostClassOf("hipMemcpyWithStream", true), HostClass::kSync);
  EXPECT_EQ(HostClassOf("cudaMemcpyAsync", true), HostClass::kPlain);
  EXPECT_EQ(HostClassOf("cudaEventSynchronize", true), HostClass::kSync);
  EXPECT_EQ(HostClassOf("hipMalloc", true), HostClass::kMemoryAllocation);
  EXPECT_EQ(HostClassOf("cuMemCreate", true), HostClass::kMemoryAllocation);
  EXPECT_EQ(HostClassOf("cudaLaunchKernel", true), HostClass::kPlain);
  EXPECT_EQ(HostClassOf("aten::item", false), HostClass::kSync);
  EXPECT_EQ(HostClassOf("torch/_dynamo/eval_frame.py(574): _fn", false), HostClass::kPlain);
  EXPECT_EQ(HostClassOf("torch/_dynamo/convert_frame.py(1164): __call__", false),
            HostClass::kCompile);
  EXPECT_EQ(HostClassOf("torch/utils/data/dataloader.py(701): __next__", false),
            HostClass::kDataLoading);
}

// Idle nanoseconds of a device, counted one by one.
int64_t CountIdle(const std::vector<RandomWork>& works, int32_t device) {
  int64_t first = 1000, last = -1000, idle = 0;
  for (const RandomWork& work : works) {
    if (work.kind == 4 || work.duration < 0 || work.device != device) continue;
    first = std::min(first, work.begin);
    last = std::max(last, work.begin + work.duration);
  }
  for (int64_t at = first; at < last; ++at) {
    idle += std::none_of(works.begin(), works.end(), [&](const RandomWork& work) {
      return work.kind < 4 && work.device == device && at >= work.begin &&
             at < work.begin + work.duration;
    });
  }
  return idle;
}

TEST(ProfileIdle, CausesAddUpToWhatACountFinds) {
  std::mt19937 random(53);
  for (int round = 0; round < 1500; ++round) {
    auto works = RandomWorks(random, 2);
    Model model = ModelOf(works);
    RunAnalysis(Describe(), model);
    std::map<int32_t, int64_t> found, in_gaps;
    const auto& idle = model.tables.Get<ProfileIdleTable>();
    for (size_t row = 0; row < idle.size(); ++row) {
      if (model.pools.Text(idle.definition[row]) == "debrief")
        found[idle.device[row]] += idle.idle_ns[row];
    }
    const auto& gaps = model.tables.Get<ProfileGapTable>();
    for (size_t row = 0; row < gaps.size(); ++row)
      in_gaps[gaps.device[row]] += gaps.duration_ns[row];
    for (int32_t device : {0, 1}) {
      ASSERT_EQ(found[device], CountIdle(works, device)) << "round " << round;
      ASSERT_EQ(in_gaps[device], found[device]);
    }
  }
}

TEST(ProfileIdle, HtaCountsFromOneRowToTheNext) {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  auto launch = [&](int64_t at_us, int64_t id) {
    timeline.AddSlice(
        thread, {"cudaLaunchKernel", kRuntime, at_us * kUs, kUs, id, kNone64, "cuda_runtime"});
  };
  auto kernel = [&](int64_t at_us, int64_t us, int64_t id) {
    timeline.AddSlice(stream, {"gemm", kKernel, at_us * kUs, us * kUs, id, kNone64, "kernel"});
  };
  kernel(0, 10, 1);
  launch(20, 2);
  kernel(25, 10, 2);  // host_wait, 15
  launch(21, 3);
  kernel(36, 10, 3);  // kernel_wait, 1
  kernel(45, 5, 4);   // kernel_wait, -1
  kernel(90, 5, 5);   // other, 40: nobody launched it
  Model model = timeline.Build();
  RunAnalysis(Describe(), model);
  const auto& rows = model.tables.Get<ProfileIdleTable>();
  std::string text;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (model.pools.Text(rows.definition[row]) == "hta")
      text += fmt::format("{} {} {}; ", model.pools.Text(rows.category[row]),
                          rows.idle_ns[row] / kUs, rows.ratio[row]);
  }
  EXPECT_EQ(text, "host_wait 15 0.27; kernel_wait 0 0; other 40 0.73; ");
}

// Kernels of 1 ms with gaps of `gap_us`, in which the host is in a slice of that name; launched at
// the end of the gap.
Model Loop(int64_t rounds, int64_t gap_us, std::string_view host, std::string_view kind,
           int64_t kernel_us = 1000, int32_t rank = 0) {
  TimelineFixture timeline({.input = rank, .job = 0, .attempt = 0, .rank = rank});
  int32_t thread = timeline.AddThread(), stream = timeline.AddStream(7);
  for (int64_t i = 0; i < rounds; ++i) {
    int64_t begin = i * (kernel_us + gap_us) * kUs;
    timeline.AddSlice(thread, {"cudaLaunchKernel", kRuntime, begin - 2 * kUs, kUs, i});
    timeline.AddSlice(stream, {"gemm", kKernel, begin, kernel_us * kUs, i});
    timeline.AddSlice(thread, {host, kind, begin + (kernel_us - 1) * kUs, (gap_us - 3) * kUs});
  }
  Model model = timeline.Build();
  LinkByCorrelation(model);
  return model;
}

std::string Rules(const std::vector<Finding>& findings) {
  std::string rules;
  for (const Finding& finding : findings)
    rules +=
        fmt::format("{}{}; ", finding.rule, finding.severity == Severity::kWarning ? " warns" : "");
  return rules;
}

TEST(ProfileIdle, FindingsNameWhatTheDeviceWaitsFor) {
  Model host = Loop(200, 500, "aten::to", kOp);
  auto findings = RunAnalysis(Describe(), host);
  EXPECT_EQ(Rules(findings), "profile.host_bound; ");
  EXPECT_NE(findings[0].evidence[0].text.find("aten::to"), std::string::npos);
  Model data = Loop(1000, 500, "enumerate(DataLoader)#x", kAnnotation);
  EXPECT_EQ(Rules(RunAnalysis(Describe(), data)), "profile.data_loading warns; ");
  Model sync = Loop(1000, 500, "cudaStreamSynchronize", kRuntime);
  findings = RunAnalysis(Describe(), sync);
  EXPECT_EQ(Rules(findings), "profile.sync_in_loop warns; ");
  EXPECT_NE(findings[0].headline.find("behind cudaStreamSynchronize"), std::string::npos);
  Model tiny = Loop(50'000, 20, "aten::add", kOp, 5);
  EXPECT_EQ(Rules(RunAnalysis(Describe(), tiny)),
            "profile.host_bound warns; profile.tiny_kernels; ");
}

TEST(ProfileIdle, HealthyAndShortRecordingsAreNoFinding) {
  Model busy = Loop(200, 20, "aten::to", kOp);
  EXPECT_EQ(Rules(RunAnalysis(Describe(), busy)), "");
  Model brief = Loop(20, 500, "aten::to", kOp);
  EXPECT_EQ(Rules(RunAnalysis(Describe(), brief)), "");
}

TEST(ProfileIdle, RanksAreOneFinding) {
  Model model;
  for (int32_t rank : {0, 1, 2}) {
    Model one = Loop(200, rank == 1 ? 900 : 10, "aten::to", kOp, 1000, rank);
    model.Append(std::move(one));
  }
  auto findings = RunAnalysis(Describe(), model);
  ASSERT_EQ(Rules(findings), "profile.host_bound; ");
  EXPECT_EQ(findings[0].ranks, (std::vector<int32_t>{1}));
  EXPECT_NE(findings[0].headline.find("on rank 1"), std::string::npos);
}

TEST(ProfileIdle, OnlyTheFiftyLongestGapsAreTold) {
  Model model = Loop(200, 500, "aten::to", kOp);
  RunAnalysis(Describe(), model);
  const auto& gaps = model.tables.Get<ProfileGapTable>();
  ASSERT_EQ(gaps.size(), 50u);
  EXPECT_EQ(gaps.place[0], 1);
  EXPECT_EQ(gaps.duration_ns[0], 500 * kUs);
  EXPECT_EQ(model.pools.Text(gaps.host[0]), "aten::to");
}

}  // namespace profile_idle_test
}  // namespace debrief::analyses::profile_idle
