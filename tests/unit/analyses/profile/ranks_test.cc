// Clocks, matches and stragglers on jobs made by hand.
//
// In every step each rank computes, then all of them reduce together: nobody ends before all have
// begun. The host waits for the device, and the next step begins.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "base/stats/statistics.h"
#include "tables/profile_bandwidth.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"
#include "tables/profile_rank.h"
#include "tables/timeline_clock.h"
#include "tables/timeline_step.h"
#include "unit/model/timeline_fixture.h"

namespace debrief {
namespace profile_ranks_test {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kStart = 1'760'000'000'000'000'000;

struct RankPlan {
  int32_t rank = 0;
  int64_t compute_ns = 10 * kMs;
  int64_t sleep_ns = 0;    // of the host, before it launches
  bool in_loader = false;  // the sleep is inside of a data loader
  int64_t clock_ns = 0;    // how far its clock is ahead
  double drift = 0;        // by which it gains
  int first_step = 0;      // the recording begins here
};

struct JobPlan {
  std::vector<RankPlan> ranks;
  int steps = 8;
  bool with_steps = true;  // rows of timeline_step
  bool told_seq = false;
};

class Simulation {
 public:
  explicit Simulation(const JobPlan& plan) : plan_(plan) {
    for (size_t i = 0; i < plan.ranks.size(); ++i) {
      auto input = static_cast<int32_t>(i);
      fixtures_.emplace_back(
          Identity{.input = input, .job = 0, .attempt = 0, .rank = plan.ranks[i].rank});
      host_.push_back(kStart);
    }
    for (int step = 0; step < plan.steps; ++step) RunStep(step);
  }

  Model Build() {
    Model model;
    for (TimelineFixture& fixture : fixtures_) fixture.BuildInto(model);
    return model;
  }

 private:
  void RunStep(int step) {
    std::vector<int64_t> begins;
    for (size_t i = 0; i < plan_.ranks.size(); ++i) begins.push_back(ReadyAt(i, step));
    int64_t end = *std::max_element(begins.begin(), begins.end()) + kMs;
    for (size_t i = 0; i < plan_.ranks.size(); ++i) {
      if (step >= plan_.ranks[i].first_step) Write(i, step, begins[i], end);
      // Hosts see the end a little apart.
      host_[i] = end + 1000 * static_cast<int64_t>((i * 3 + static_cast<size_t>(step) * 7) % 11);
    }
  }

  int64_t ComputeOf(size_t i, int step) const {
    return plan_.ranks[i].compute_ns + (step * step % 5) * kMs;
  }
  int64_t LaunchAt(size_t i) const { return host_[i] + kMs + plan_.ranks[i].sleep_ns; }
  int64_t ReadyAt(size_t i, int step) const { return LaunchAt(i) + ComputeOf(i, step); }

  int64_t Clock(size_t i, int64_t time) const {
    const RankPlan& rank = plan_.ranks[i];
    return time + rank.clock_ns +
           static_cast<int64_t>(rank.drift * static_cast<double>(time - kStart));
  }

  void Write(size_t i, int step, int64_t begin, int64_t end) {
    TimelineFixture& fixture = fixtures_[i];
    int32_t thread = fixture.AddThread();
    int32_t stream = fixture.AddStream(7);
    auto add = [&](int32_t track, std::string_view name, std::string_view kind, int64_t from,
                   int64_t to) {
      int64_t start = Clock(i, from);
      return fixture.AddSlice(track, {name, kind, start, Clock(i, to) - start});
    };
    int64_t launch = LaunchAt(i);
    if (plan_.ranks[i].in_loader)
      add(thread, "enumerate(DataLoader)#__next__", timeline::kAnnotation, host_[i],
          host_[i] + plan_.ranks[i].sleep_ns);
    add(thread, "cudaLaunchKernel", timeline::kRuntime, launch - kMs / 2, launch);
    add(thread, "cudaDeviceSynchronize", timeline::kRuntime, launch, end);
    add(stream, "gemm", timeline::kKernel, launch, begin);
    int32_t slice = add(stream, "ncclDevKernel_AllReduce_Sum_bf16", timeline::kKernel, begin, end);
    AddCollective(fixture, slice, step);
    if (plan_.with_steps) AddStep(i, step, end);
  }

  void AddCollective(TimelineFixture& fixture, int32_t slice, int step) {
    auto row = fixture.writer().NewRow<TimelineCollectiveRow>();
    row.slice = slice;
    row.op = fixture.writer().Intern("allreduce");
    row.group_name = fixture.writer().Intern("3");
    row.group_desc = fixture.writer().Intern("mesh_dp");
    std::vector<int64_t> members;
    for (const RankPlan& rank : plan_.ranks) members.push_back(rank.rank);
    std::sort(members.begin(), members.end());
    row.members = fixture.part().pools.lists.Intern(members);
    row.group_size = static_cast<int32_t>(members.size());
    row.dtype = fixture.writer().Intern("BFloat16");
    row.in_elements = row.out_elements = 1 << 20;
    if (plan_.told_seq) row.seq = 100 + step;
    fixture.part().tables.Edit<TimelineCollectiveTable>().Add(row);
  }

  void AddStep(size_t i, int step, int64_t end) {
    auto row = fixtures_[i].writer().NewRow<TimelineStepRow>();
    row.step = step - plan_.ranks[i].first_step;
    row.label = step;
    row.start_ns = Clock(i, host_[i]);
    row.end_ns = Clock(i, end);
    fixtures_[i].part().tables.Edit<TimelineStepTable>().Add(row);
  }

  JobPlan plan_;
  std::vector<TimelineFixture> fixtures_;
  std::vector<int64_t> host_;  // when the host of a rank begins its next step
};

struct Outcome {
  Model model;
  std::vector<Finding> findings;

  std::vector<std::pair<int32_t, std::string>> Blamed() const {
    std::vector<std::pair<int32_t, std::string>> blamed;
    const auto& ranks = model.tables.Get<ProfileRankTable>();
    for (const Finding& finding : findings) {
      if (finding.rule != "profile.straggler") continue;
      auto row = static_cast<size_t>(finding.evidence.at(0).rows.at(0));
      EXPECT_EQ(finding.ranks, std::vector{ranks.rank[row]});
      blamed.emplace_back(ranks.rank[row], model.pools.Text(ranks.reason[row]));
    }
    return blamed;
  }
};

Outcome Analyse(const JobPlan& plan) {
  Outcome outcome{.model = Simulation(plan).Build(), .findings = {}};
  for (std::string_view name :
       {"timeline_collectives", "timeline_clock", "profile_comms", "profile_ranks"}) {
    auto all = AllAnalyses();
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const Analysis* each) { return each->info.name == name; });
    for (Finding& finding : RunAnalysis(**found, outcome.model))
      outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

JobPlan Healthy(int32_t ranks = 4) {
  JobPlan plan;
  for (int32_t rank = 0; rank < ranks; ++rank) plan.ranks.push_back({.rank = rank});
  return plan;
}

using Blamed = std::vector<std::pair<int32_t, std::string>>;

TEST(ProfileRanks, NobodyIsBlamedForNothing) {
  Outcome outcome = Analyse(Healthy());
  EXPECT_EQ(outcome.Blamed(), Blamed{});
  const auto& matches = outcome.model.tables.Get<ProfileCollectiveMatchTable>();
  ASSERT_EQ(matches.size(), 8);
  EXPECT_TRUE(std::all_of(matches.complete.begin(), matches.complete.end(),
                          [](uint8_t complete) { return complete != 0; }));
  EXPECT_EQ(outcome.model.tables.Get<ProfileCollectiveWaitTable>().size(), 32);
}

TEST(ProfileRanks, SlowGpu) {
  JobPlan plan = Healthy();
  plan.ranks[2].compute_ns = 16 * kMs;
  EXPECT_EQ(Analyse(plan).Blamed(), (Blamed{{2, "gpu"}}));
}

TEST(ProfileRanks, SlowHostAndSlowLoader) {
  JobPlan plan = Healthy();
  plan.ranks[1].sleep_ns = 5 * kMs;
  EXPECT_EQ(Analyse(plan).Blamed(), (Blamed{{1, "host"}}));
  plan.ranks[1].in_loader = true;
  EXPECT_EQ(Analyse(plan).Blamed(), (Blamed{{1, "data"}}));
}

// A recording without marks of steps is compared as a whole.
TEST(ProfileRanks, WithoutSteps) {
  JobPlan plan = Healthy();
  plan.with_steps = false;
  EXPECT_EQ(Analyse(plan).Blamed(), Blamed{});
  plan.ranks[3].sleep_ns = 5 * kMs;
  EXPECT_EQ(Analyse(plan).Blamed(), (Blamed{{3, "host"}}));
}

// Too little to be worth a warning: 2 % of a step.
TEST(ProfileRanks, SmallDifferences) {
  JobPlan plan = Healthy();
  plan.ranks[2].compute_ns += kMs / 4;
  EXPECT_EQ(Analyse(plan).Blamed(), Blamed{});
}

TEST(ProfileRanks, TwoOfEight) {
  JobPlan plan = Healthy(8);
  plan.ranks[5].compute_ns = 16 * kMs;
  plan.ranks[6].compute_ns = 16 * kMs;
  Blamed blamed = Analyse(plan).Blamed();
  EXPECT_FALSE(blamed.empty());
  for (const auto& [rank, reason] : blamed) {
    EXPECT_TRUE(rank == 5 || rank == 6);
    EXPECT_EQ(reason, "gpu");
  }
}

TEST(TimelineClock, RecoversAnOffset) {
  JobPlan plan = Healthy();
  plan.ranks[3].clock_ns = 11'560 * kMs + 123;
  Outcome outcome = Analyse(plan);
  EXPECT_EQ(outcome.Blamed(), Blamed{});
  const auto& clocks = outcome.model.tables.Get<TimelineClockTable>();
  ASSERT_EQ(clocks.size(), 4);
  EXPECT_EQ(clocks.offset_ns[3], -plan.ranks[3].clock_ns);
  EXPECT_EQ(clocks.offset_ns[0], 0);
  EXPECT_EQ(clocks.residual_ns[3], 0);
  EXPECT_EQ(outcome.model.pools.Text(clocks.state[3]), "aligned");
  EXPECT_EQ(std::count(clocks.reference.begin(), clocks.reference.end(), 1), 1);
}

TEST(TimelineClock, RecoversADrift) {
  JobPlan plan = Healthy();
  plan.steps = 200;
  plan.ranks[1].clock_ns = -40 * kMs;
  plan.ranks[1].drift = 50e-6;
  Outcome outcome = Analyse(plan);
  const auto& clocks = outcome.model.tables.Get<TimelineClockTable>();
  EXPECT_NEAR(clocks.drift_ppb[1], -50'000, 100);
  EXPECT_LT(clocks.residual_ns[1], 1000);
  const auto& matches = outcome.model.tables.Get<ProfileCollectiveMatchTable>();
  EXPECT_LT(*std::max_element(matches.end_skew_ns.begin(), matches.end_skew_ns.end()), 2000);
}

TEST(TimelineClock, StragglerWithAnotherClock) {
  JobPlan plan = Healthy();
  plan.ranks[2].clock_ns = -300 * kMs;
  plan.ranks[2].sleep_ns = 6 * kMs;
  Outcome outcome = Analyse(plan);
  EXPECT_EQ(outcome.Blamed(), (Blamed{{2, "host"}}));
  EXPECT_EQ(outcome.model.tables.Get<TimelineClockTable>().offset_ns[2], 300 * kMs);
}

// One recording begins two collectives later: all collectives look alike, only times tell.
TEST(TimelineClock, RecordingsThatBeginApart) {
  for (bool told_seq : {false, true}) {
    JobPlan plan = Healthy();
    plan.steps = 20;
    plan.told_seq = told_seq;
    plan.ranks[1].first_step = 2;
    plan.ranks[1].clock_ns = 7 * kMs;
    Outcome outcome = Analyse(plan);
    const auto& clocks = outcome.model.tables.Get<TimelineClockTable>();
    EXPECT_EQ(clocks.offset_ns[1], -7 * kMs);
    EXPECT_EQ(clocks.matched[1], 18);
    EXPECT_EQ(outcome.Blamed(), Blamed{});
  }
}

TEST(TimelineClock, Alone) {
  Outcome outcome = Analyse(Healthy(1));
  const auto& clocks = outcome.model.tables.Get<TimelineClockTable>();
  ASSERT_EQ(clocks.size(), 1);
  EXPECT_EQ(outcome.model.pools.Text(clocks.state[0]), "alone");
  EXPECT_EQ(clocks.offset_ns[0], kNone64);
  const auto& bandwidth = outcome.model.tables.Get<ProfileBandwidthTable>();
  ASSERT_EQ(bandwidth.size(), 2);
  EXPECT_EQ(outcome.model.pools.Text(bandwidth.basis[0]), "own_duration");
}

TEST(ProfileComms, Bandwidth) {
  Outcome outcome = Analyse(Healthy());
  const auto& collectives = outcome.model.tables.Get<ProfileCollectiveTable>();
  EXPECT_EQ(outcome.model.pools.Text(collectives.op[0]), "all_reduce");
  EXPECT_EQ(collectives.bytes[0], 2 << 20);
  const auto& bandwidth = outcome.model.tables.Get<ProfileBandwidthTable>();
  ASSERT_EQ(bandwidth.size(), 2);
  EXPECT_EQ(bandwidth.median_ns[0], kMs);
  EXPECT_NEAR(bandwidth.algbw[0], (2 << 20) / 1e6, 1e-9);
  EXPECT_NEAR(bandwidth.busbw[0], bandwidth.algbw[0] * 1.5, 1e-9);
  EXPECT_NEAR(bandwidth.algbw[1], 2.0 / 1024 / 1e-3, 1e-9);
}

TEST(Robust, MediansAndSlopes) {
  using Values = std::vector<int64_t>;
  EXPECT_EQ(Median(Values{}), 0);
  EXPECT_EQ(Median(Values{5, 1, 3}), 3);
  EXPECT_EQ(Median(Values{4, 1, 3, 1000}), 3);
  EXPECT_EQ(Quantile({4, 1, 3, 2, 5}, 0.25), 2);
  EXPECT_EQ(MedianDeviation({1, 2, 3, 4, 1000}), 1);
  EXPECT_EQ(MeanDeviation({0, 0, 0, 8}), 2);
  std::vector<Point> points;
  for (int64_t x = 0; x < 20; ++x) points.push_back({x, 3 * x + (x == 7 ? 900 : 0)});
  EXPECT_DOUBLE_EQ(MedianSlope(points), 3);
  EXPECT_DOUBLE_EQ(MedianSlope({}), 0);
}

}  // namespace profile_ranks_test
}  // namespace debrief
