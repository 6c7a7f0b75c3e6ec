// Lost time against runs whose truth is known.
//
// The generator makes jobs of several ranks and groups: each rank idles for a known reason,
// computes, and meets others in a collective that moves data once the last of them has come. What
// each rank loses to what is added up while the run is made, not read from its timelines.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>

#include "analyses/cost/blame.h"
#include "analyses/cost/division.h"
#include "tables/compilation.h"
#include "tables/compile_rank_only.h"
#include "tables/compile_span.h"
#include "tables/cost_collective.h"
#include "tables/cost_fix.h"
#include "tables/cost_rank.h"
#include "tables/cost_region.h"
#include "tables/timeline_collective.h"
#include "tables/timeline_step.h"
#include "unit/analyses/profile/fixture.h"

namespace debrief::analyses::cost {

const Analysis& Describe();

namespace cost_test {

constexpr int64_t kUs = 1000;
constexpr int64_t kMs = 1'000'000;
constexpr int64_t kStart = 1'760'000'000'000'000'000;

// One rank of a job that is made.
class TestRank {
 public:
  TestRank(int32_t rank, int64_t clock_ns)
      : fixture_(Identity{.input = rank, .job = 0, .attempt = 0, .rank = rank}),
        clock_ns_(clock_ns) {
    thread_ = fixture_.AddThread();
    stream_ = fixture_.AddStream(7);
    other_stream_ = fixture_.AddStream(8);
    Compute(100 * kUs);  // the recording begins with work, before the first step
  }

  int64_t now() const { return now_; }
  StateTimes truth;

  void Compute(int64_t ns) {
    Launch();
    Slice(stream_, "gemm", timeline::kKernel, now_, now_ + ns);
    Spend(State::kCompute, ns);
  }

  // The device has nothing to do, since the host is busy with `state`.
  void Idle(State state, int64_t ns) {
    const int64_t end = now_ + ns;
    if (state == State::kData)
      Slice(thread_, "enumerate(DataLoader)#__next__", timeline::kAnnotation, now_, end - 4 * kUs);
    if (state == State::kAllocation)
      Slice(thread_, "cudaMalloc", timeline::kRuntime, now_, end - 4 * kUs);
    if (state == State::kCompile)
      Slice(thread_, "entire_frame_compile (dynamo_timed)", timeline::kOp, now_, end - 4 * kUs);
    Spend(state, ns);
  }

  // A collective that the rank begins now and whose last member comes at `last`.
  void Collect(const std::string& group, const std::vector<int64_t>& members, int64_t last,
               int64_t transfer_ns) {
    Launch();
    const int64_t begin = now_, waited = last - begin;
    int32_t slice = Slice(stream_, "ncclDevKernel_AllReduce_Sum_bf16", timeline::kKernel, begin,
                          last + transfer_ns);
    AddCollective(group, members, slice);
    Spend(State::kWait, waited);
    Spend(State::kTransfer, transfer_ns);
  }

  // Computes while a collective, begun by now, runs on another stream: until `last`, then moving.
  void ComputeBehind(const std::vector<int64_t>& members, int64_t last, int64_t transfer_ns,
                     int64_t compute_ns) {
    const int64_t begin = now_;
    Compute(compute_ns);
    ++correlation_;
    AddCollective("behind", members,
                  Slice(other_stream_, "ncclDevKernel_AllReduce_Sum_bf16", timeline::kKernel, begin,
                        last + transfer_ns));
  }

  void BeginStep() { step_begin_ = now_; }
  void EndStep() {
    auto row = fixture_.writer().NewRow<TimelineStepRow>();
    row.step = steps_++;
    row.label = row.step;
    row.start_ns = step_begin_ + clock_ns_;
    row.end_ns = now_ + clock_ns_;
    fixture_.part().tables.Edit<TimelineStepTable>().Add(row);
  }
  void StartCounting() { truth = {}; }

  void BuildInto(Model& model, int64_t base_ns = kNone64) {
    fixture_.BuildInto(model, {.producer = "kineto", .base_ns = base_ns});
  }

 private:
  void AddCollective(const std::string& group, const std::vector<int64_t>& members, int32_t slice) {
    auto row = fixture_.writer().NewRow<TimelineCollectiveRow>();
    row.slice = slice;
    row.op = fixture_.writer().Intern("allreduce");
    row.group_name = fixture_.writer().Intern(group);
    row.members = fixture_.part().pools.lists.Intern(members);
    row.group_size = static_cast<int32_t>(members.size());
    row.dtype = fixture_.writer().Intern("BFloat16");
    row.in_elements = row.out_elements = 1 << 20;
    fixture_.part().tables.Edit<TimelineCollectiveTable>().Add(row);
  }

  // Shortly before the work, so that a gap lasts until the host comes.
  void Launch() {
    ++correlation_;
    Slice(thread_, "cudaLaunchKernel", timeline::kRuntime, now_ - 3 * kUs, now_ - kUs);
  }

  int32_t Slice(int32_t track, std::string_view name, std::string_view kind, int64_t begin,
                int64_t end) {
    const bool is_linked = name == "cudaLaunchKernel" || track != thread_;
    return fixture_.AddSlice(
        track, {name, kind, begin + clock_ns_, end - begin, is_linked ? correlation_ : kNone64});
  }

  void Spend(State state, int64_t ns) {
    now_ += ns;
    truth[state] += ns;
  }

  TimelineFixture fixture_;
  int64_t clock_ns_;
  int32_t thread_ = 0, stream_ = 0, other_stream_ = 0;
  int64_t now_ = kStart;
  int64_t step_begin_ = kStart;
  int32_t steps_ = 0;
  int64_t correlation_ = 0;
};

class TestJob {
 public:
  explicit TestJob(int32_t ranks, bool with_clocks = false) {
    for (int32_t rank = 0; rank < ranks; ++rank)
      ranks_.push_back(std::make_unique<TestRank>(rank, with_clocks ? rank * 7 * kMs : 0));
    Meet(All(), kMs);
    for (auto& rank : ranks_) rank->StartCounting();
  }

  TestRank& at(int64_t rank) { return *ranks_[static_cast<size_t>(rank)]; }
  std::vector<int64_t> All() const {
    std::vector<int64_t> all;
    for (size_t i = 0; i < ranks_.size(); ++i) all.push_back(static_cast<int64_t>(i));
    return all;
  }

  void Meet(const std::vector<int64_t>& members, int64_t transfer_ns) {
    int64_t last = 0;
    for (int64_t rank : members) last = std::max(last, at(rank).now());
    for (int64_t rank : members)
      at(rank).Collect(fmt::format("{}", fmt::join(members, "_")), members, last, transfer_ns);
  }

  void Step(const std::function<void()>& work) {
    for (auto& rank : ranks_) rank->BeginStep();
    work();
    for (auto& rank : ranks_) rank->EndStep();
  }

  Model Analyse() {
    Model model;
    for (auto& rank : ranks_) rank->BuildInto(model);
    LinkByCorrelation(model);
    for (std::string_view name : {"timeline_collectives", "timeline_clock", "cost"}) {
      auto all = AllAnalyses();
      auto found = std::find_if(all.begin(), all.end(),
                                [&](const Analysis* each) { return each->info.name == name; });
      for (Finding& finding : RunAnalysis(**found, model)) findings.push_back(std::move(finding));
    }
    return model;
  }

  std::vector<Finding> findings;

 private:
  std::vector<std::unique_ptr<TestRank>> ranks_;
};

int64_t LostParts(const CostRankTable& table, size_t row) {
  return table.wait_ns[row] + table.compile_ns[row] + table.data_ns[row] + table.sync_ns[row] +
         table.allocation_ns[row] + table.host_ns[row] + table.pace_ns[row] + table.unknown_ns[row];
}

// Whatever the run: parts add up to the lost time, and causes to that of all ranks.
void ExpectToAddUp(const Model& model) {
  const auto& ranks = model.tables.Get<CostRankTable>();
  int64_t lost = 0, caused = 0, waited = 0, fixes = 0;
  for (size_t row = 0; row < ranks.size(); ++row) {
    EXPECT_EQ(ranks.wall_ns[row] - ranks.busy_ns[row], ranks.lost_ns[row]);
    EXPECT_EQ(ranks.compute_ns[row] + ranks.transfer_ns[row] + ranks.undivided_ns[row],
              ranks.busy_ns[row]);
    EXPECT_EQ(LostParts(ranks, row), ranks.lost_ns[row]);
    lost += ranks.lost_ns[row];
    waited += ranks.wait_ns[row];
    caused += ranks.caused_ns[row];
  }
  const auto& causes = model.tables.Get<CostFixTable>();
  for (int64_t ns : causes.lost_ns) fixes += ns;
  EXPECT_EQ(fixes, lost);
  EXPECT_EQ(caused, waited);
}

void ExpectNear(int64_t found, int64_t truth, std::string_view what) {
  EXPECT_LE(std::abs(found - truth), truth / 100) << what << ": " << found << ", truly " << truth;
}

TestJob RandomJob(uint32_t seed) {
  std::mt19937 random(seed);
  auto ms = [&](int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most * 1000)) * kUs;
  };
  const auto count = static_cast<int32_t>(2 + random() % 5);
  TestJob job(count, seed % 2 == 1);
  constexpr std::array kIdle = {State::kHost, State::kData, State::kAllocation, State::kCompile};
  for (int step = 0; step < 6; ++step) {
    job.Step([&] {
      for (int round = 0; round < 3; ++round) {
        for (int64_t rank : job.All()) {
          if (random() % 2 == 0) job.at(rank).Idle(kIdle[random() % 4], kMs / 10 + ms(5));
          job.at(rank).Compute(kMs + ms(10));
        }
        std::vector<int64_t> members;
        for (int64_t rank : job.All()) {
          if (random() % 3 != 0) members.push_back(rank);
        }
        if (members.size() > 1) job.Meet(members, kMs / 2 + ms(2));
      }
      job.Meet(job.All(), kMs / 2 + ms(2));
    });
  }
  return job;
}

TEST(Cost, LostSecondsAreTheTrueOnes) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    TestJob job = RandomJob(seed);
    Model model = job.Analyse();
    ExpectToAddUp(model);
    const auto& ranks = model.tables.Get<CostRankTable>();
    ASSERT_EQ(ranks.size(), job.All().size());
    int64_t lost = 0, truth = 0;
    for (size_t row = 0; row < ranks.size(); ++row) {
      const StateTimes& own = job.at(ranks.rank[row]).truth;
      ExpectNear(ranks.wall_ns[row], own.Wall(), "wall");
      ExpectNear(ranks.lost_ns[row], own.Lost(), "lost");
      ExpectNear(ranks.wait_ns[row], own[State::kWait], "wait");
      ExpectNear(ranks.host_ns[row], own[State::kHost], "host");
      ExpectNear(ranks.data_ns[row], own[State::kData], "data");
      ExpectNear(ranks.allocation_ns[row], own[State::kAllocation], "allocation");
      ExpectNear(ranks.compile_ns[row], own[State::kCompile], "compile");
      lost += ranks.lost_ns[row];
      truth += own.Lost();
    }
    ExpectNear(lost, truth, "all");
  }
}

// Overlapping work, several devices and streams, negative durations: segments cover the timeline.
TEST(Cost, SegmentsCoverWhatIsRecorded) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    Model model = ModelOf(RandomWorks(random, 2));
    LinkByCorrelation(model);
    AddStep(model, 0, {5, 30});
    AddStep(model, 1, {30, 55});
    Shared shared(model);
    for (const timeline::TimelineView& view : timeline::Timelines(model)) {
      Division division = Divide(view, shared);
      for (size_t j = 1; j < division.segments.size(); ++j)
        ASSERT_EQ(division.segments[j - 1].time.end, division.segments[j].time.begin);
    }
    RunAnalysis(Describe(), model);
    ExpectToAddUp(model);
  }
}

// "culprit reason" of the first cause.
std::string First(const Model& model) {
  const auto& fixes = model.tables.Get<CostFixTable>();
  return fmt::format("{} {} {}", model.pools.Text(fixes.kind[0]), fixes.culprit[0],
                     model.pools.Text(fixes.reason[0]));
}

// The sleep comes before work that the others have done long ago: what the late rank does while
// they wait is not what it is late for.
TEST(Cost, ASleepBeforeTheWorkIsTheHosts) {
  TestJob job(4);
  for (int step = 0; step < 5; ++step) {
    job.Step([&] {
      job.at(2).Idle(State::kHost, 50 * kMs);
      for (int64_t rank : job.All()) job.at(rank).Compute(80 * kMs);
      job.Meet(job.All(), kMs);
    });
  }
  Model model = job.Analyse();
  EXPECT_EQ(First(model), "late_rank 2 host");
  EXPECT_EQ(model.tables.Get<CostFixTable>().lost_ns[0], 5 * 3 * 50 * kMs);
  EXPECT_EQ(model.tables.Get<CostRankTable>().caused_ns[2], 5 * 3 * 50 * kMs);
  ASSERT_EQ(job.findings.size(), 1u);
  EXPECT_EQ(
      job.findings[0].headline,
      "Devices idle or wait 1.00 s of 2.62 s (38 %), 750 ms because 3 ranks wait for rank 2's "
      "host");
  EXPECT_EQ(job.findings[0].role, Role::kObservation);
}

TEST(Cost, MoreWorkIsTheGpus) {
  TestJob job(4);
  for (int step = 0; step < 5; ++step) {
    job.Step([&] {
      for (int64_t rank : job.All()) job.at(rank).Compute(rank == 1 ? 90 * kMs : 40 * kMs);
      job.Meet(job.All(), kMs);
    });
  }
  Model model = job.Analyse();
  EXPECT_EQ(First(model), "late_rank 1 compute");
  EXPECT_EQ(model.tables.Get<CostFixTable>().lost_ns[0], 5 * 3 * 50 * kMs);
}

// Ranks 0 and 1 meet, then 1 and 2: rank 2 waits for rank 1, which waited for the host of rank 0.
TEST(Cost, WaitingGoesBackThroughWaiting) {
  TestJob job(3);
  for (int step = 0; step < 5; ++step) {
    job.Step([&] {
      job.at(0).Idle(State::kHost, 50 * kMs);
      for (int64_t rank : job.All()) job.at(rank).Compute(20 * kMs);
      job.Meet({0, 1}, kMs);
      job.at(2).Compute(kMs);
      job.Meet({1, 2}, kMs);
      job.at(0).Compute(kMs);
      job.Meet(job.All(), kMs);
    });
  }
  Model model = job.Analyse();
  EXPECT_EQ(First(model), "late_rank 0 host");
  ExpectNear(model.tables.Get<CostFixTable>().lost_ns[0], 5 * 2 * 50 * kMs, "both that wait");
  const auto& collectives = model.tables.Get<CostCollectiveTable>();
  bool found = false;
  for (size_t row = 0; row < collectives.size(); ++row) {
    if (model.pools.Text(collectives.group_name[row]) != "1_2") continue;
    found = true;
    EXPECT_EQ(collectives.times[row], 5);
    EXPECT_EQ(collectives.last_rank[row], 1);
    EXPECT_EQ(collectives.blamed_rank[row], 0);
    EXPECT_EQ(collectives.wait_ns[row], 5 * 50 * kMs);
  }
  EXPECT_TRUE(found);
}

// Rank 1 comes 20 ms late to a collective that both hide behind computing.
TEST(Cost, HiddenWaitingCostsNothing) {
  TestJob job(2);
  job.Step([&] {
    const int64_t begin = job.at(0).now();
    job.at(0).ComputeBehind({0, 1}, begin + 20 * kMs, kMs, 30 * kMs);
    job.at(1).Compute(20 * kMs);
    job.at(1).ComputeBehind({0, 1}, begin + 20 * kMs, kMs, 10 * kMs);
    job.Meet(job.All(), kMs);
  });
  Model model = job.Analyse();
  ExpectToAddUp(model);
  const auto& ranks = model.tables.Get<CostRankTable>();
  EXPECT_EQ(ranks.wait_ns[0], 0);
  EXPECT_EQ(ranks.lost_ns[0] + ranks.lost_ns[1], 0);
  EXPECT_EQ(ranks.transfer_ns[0], kMs) << "the hidden one is not counted";
}

// What only the first recorded step has is no host that launches too late.
TEST(Cost, TheFirstStepIsToldApart) {
  TestJob job(2);
  for (int step = 0; step < 4; ++step) {
    job.Step([&] {
      for (int64_t rank : job.All()) {
        job.at(rank).Idle(State::kHost, step == 0 ? 300 * kMs : 20 * kMs);
        job.at(rank).Compute(10 * kMs);
      }
      job.Meet(job.All(), kMs);
    });
  }
  Model model = job.Analyse();
  ExpectToAddUp(model);
  const auto& fixes = model.tables.Get<CostFixTable>();
  ASSERT_EQ(fixes.size(), 2u);
  EXPECT_EQ(model.pools.Text(fixes.kind[0]), "idle");
  EXPECT_EQ(fixes.lost_ns[0], 2 * 4 * 20 * kMs);
  EXPECT_EQ(model.pools.Text(fixes.kind[1]), "first_step");
  EXPECT_EQ(fixes.lost_ns[1], 2 * 280 * kMs);
}

// A rank alone: nobody can tell how much of its communication is waiting.
TEST(Cost, WithoutPeersCommunicationIsNotDivided) {
  TestRank rank(3, 0);
  rank.BeginStep();
  rank.Compute(10 * kMs);
  rank.Collect("0", {2, 3}, rank.now() + 30 * kMs, kMs);
  rank.EndStep();
  Model model;
  rank.BuildInto(model);
  LinkByCorrelation(model);
  RunAnalysis(Describe(), model);
  const auto& ranks = model.tables.Get<CostRankTable>();
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks.undivided_ns[0], 31 * kMs);
  EXPECT_EQ(ranks.lost_ns[0], 0);
}

void AddSpan(Model& model, std::string_view id, double seconds, int32_t number) {
  auto span = Part::RowOf<CompileSpanRow>({.input = 0, .job = 0, .attempt = 0, .rank = 0});
  span.input = 0;
  span.compile_id = model.pools.Intern(id);
  span.function = model.pools.Intern("forward");
  span.file = model.pools.Intern("/src/model.py");
  span.line = 12;
  span.seconds = seconds;
  span.told_by = model.pools.Intern("metrics");
  span.start_ns = kStart;
  span.end_ns = kStart + static_cast<int64_t>(seconds * 1e9);
  model.tables.Edit<CompileSpanTable>().Add(span);
  auto row = Part::RowOf<CompilationRow>({.input = 0, .job = 0, .attempt = 0, .rank = 0});
  row.input = 0;
  row.compile_id = span.compile_id;
  row.number = number;
  model.tables.Edit<CompilationTable>().Add(row);
}

TEST(Cost, CompileLogsAlone) {
  Model model;
  AddSpan(model, "0/0", 30, 0);
  AddSpan(model, "0/1", 20, 1);
  AddSpan(model, "0/2", 25, 2);
  std::vector<Finding> findings = RunAnalysis(Describe(), model);
  const auto& regions = model.tables.Get<CostRegionTable>();
  ASSERT_EQ(regions.size(), 3u);
  EXPECT_EQ(regions.compile_ns[0], 30'000 * kMs);
  EXPECT_EQ(regions.runs[0], kNone64);
  const auto& fixes = model.tables.Get<CostFixTable>();
  ASSERT_EQ(fixes.size(), 1u) << "the first compilation is not lost";
  EXPECT_EQ(fixes.lost_ns[0], 45'000 * kMs);
  EXPECT_EQ(fixes.times[0], 2);
  EXPECT_EQ(model.pools.Text(fixes.compile_id[0]), "0/2");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].headline,
            "45.0 s lost by compiling function forward (model.py:12) again on rank 0");
}

TEST(Cost, WhatMostRanksDoNotCompileIsLost) {
  Model model;
  AddSpan(model, "1/0", 45, 0);
  auto row = CompileRankOnlyRow();
  row.job = row.attempt = 0;
  row.function = model.pools.Intern("forward");
  row.compile_id = model.pools.Intern("1/0");
  row.ranks = model.pools.lists.Intern(std::vector<int64_t>{0});
  row.missing = model.pools.lists.Intern(std::vector<int64_t>{1, 2, 3});
  model.tables.Edit<CompileRankOnlyTable>().Add(row);
  std::vector<Finding> findings = RunAnalysis(Describe(), model);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].headline,
            "45.0 s lost by compiling function forward (model.py:12) on rank 0 alone");
  EXPECT_EQ(findings[0].compile_ids, std::vector<std::string>{"1/0"});
}

// The device idles for 50 ms while the log says that the rank compiles; a profile alone would call
// it the host.
TEST(Cost, CompilingInAStepCountsOnce) {
  TestRank rank(0, 0);
  rank.BeginStep();
  const int64_t begin = rank.now();
  rank.Idle(State::kHost, 50 * kMs);
  rank.Compute(10 * kMs);
  rank.EndStep();
  Model model;
  rank.BuildInto(model, 0);
  LinkByCorrelation(model);
  AddSpan(model, "0/1", 0.05, 1);
  auto& spans = model.tables.Edit<CompileSpanTable>();
  spans.start_ns[0] = begin;
  spans.end_ns[0] = begin + 50 * kMs;
  RunAnalysis(Describe(), model);
  ExpectToAddUp(model);
  const auto& ranks = model.tables.Get<CostRankTable>();
  EXPECT_EQ(ranks.compile_ns[0], 50 * kMs);
  EXPECT_EQ(ranks.host_ns[0], 0);
  EXPECT_EQ(First(model), fmt::format("compile {} compile", kNone32));
}

// A kernel of 2 us in seconds of steps says nothing about the host.
TEST(Cost, AProfileOfNoDeviceWorkSaysSo) {
  TestJob job(1);
  for (int step = 0; step < 3; ++step) {
    job.Step([&] {
      job.at(0).Idle(State::kHost, 1000 * kMs);
      job.at(0).Compute(2000);
    });
  }
  job.Analyse();
  ASSERT_EQ(job.findings.size(), 1u);
  EXPECT_EQ(job.findings[0].rule, "cost.unattributed");
  EXPECT_EQ(job.findings[0].headline,
            "The profile shows almost no work of a device: 6.00 us of 3.00 s in steps");
}

TEST(Cost, NothingIsToldOfNothing) {
  Model model;
  EXPECT_TRUE(RunAnalysis(Describe(), model).empty());
  TestJob job(2);
  job.Step([&] {
    for (int64_t rank : job.All()) job.at(rank).Compute(500 * kMs);
    job.at(0).Idle(State::kHost, 9 * kMs);
    job.Meet(job.All(), kMs);
  });
  job.Analyse();
  EXPECT_TRUE(job.findings.empty()) << "less than 5 % is lost";
}

TEST(Cost, ScaledAddsUp) {
  std::vector<Blame> blames;
  for (int32_t rank = 0; rank < 12; ++rank) blames.push_back({{rank, State::kHost}, rank + 1});
  int64_t sum = 0;
  for (const Blame& blame : Scaled(blames, 1'000'000'000'000'000'003)) {
    EXPECT_GT(blame.ns, 0);
    sum += blame.ns;
  }
  EXPECT_EQ(sum, 1'000'000'000'000'000'003);
  EXPECT_TRUE(Scaled(blames, 0).empty());
  EXPECT_TRUE(Scaled({}, 5).empty());
}

}  // namespace cost_test
}  // namespace debrief::analyses::cost
