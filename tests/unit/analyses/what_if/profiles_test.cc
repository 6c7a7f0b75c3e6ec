// Jobs with a profile of each rank, replayed, against runs whose truth is known.
//
// The generator is a small simulation: hosts launch kernels ahead of their devices, a collective
// on a stream of its own waits for the kernels before it and for the other ranks, and the host
// waits for the device at the end of a step. The same job is simulated once more without the
// delay that was planted in it: that is what its removal gains.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>

#include "analyses/analysis.h"
#include "tables/profile_collective_match.h"
#include "tables/timeline_collective.h"
#include "tables/what_if_cause.h"
#include "tables/what_if_change.h"
#include "tables/what_if_job.h"
#include "tables/what_if_set.h"
#include "unit/analyses/profile/fixture.h"

namespace debrief::analyses::what_if {

const Analysis& Describe();

namespace what_if_profile_test {

constexpr int64_t kUs = 1000;
constexpr int64_t kMs = 1'000'000;
constexpr int64_t kStart = 1'760'000'000'000'000'000;
constexpr int64_t kCallNs = 5 * kUs;
constexpr int64_t kLatencyNs = 8 * kUs;

// What is planted into one rank.
struct Delay {
  int32_t rank = kNone32;
  int64_t host_ns = 0;    // before the first launch of a step
  double gpu_factor = 1;  // of kernels
};

struct Job {
  int32_t ranks = 4;
  int steps = 5, kernels = 12;
  unsigned seed = 0;
  double noise = 0.02;
  int64_t clock_ns = 0;                           // difference between the clocks of neighbours
  std::vector<std::vector<double>> lengths = {};  // of sequences, by step and rank; none: all 1
};

constexpr std::string_view kBackwardOp = "autograd::engine::evaluate_function: MmBackward0";

struct Rank {
  explicit Rank(int32_t rank)
      : fixture(Identity{.input = rank, .job = 0, .attempt = 0, .rank = rank}) {
    thread = fixture.AddThread();
    compute = fixture.AddStream(7);
    network = fixture.AddStream(20);
  }
  TimelineFixture fixture;
  int32_t thread = 0, compute = 0, network = 0;
  int64_t clock_ns = 0, now = kStart, device = kStart, correlation = 0;

  int32_t Slice(int32_t track, std::string_view name, std::string_view kind, int64_t begin,
                int64_t end, bool is_linked) {
    return fixture.AddSlice(
        track, {name, kind, begin + clock_ns, end - begin, is_linked ? correlation : kNone64});
  }
  void Call(std::string_view name, int64_t end, bool is_linked) {
    Slice(thread, name, timeline::kRuntime, now, end, is_linked);
    now = end;
  }
};

class Simulation {
 public:
  Simulation(const Job& job, const Delay& delay) : job_(job), delay_(delay), random_(job.seed) {
    for (int32_t rank = 0; rank < job.ranks; ++rank) {
      ranks_.push_back(std::make_unique<Rank>(rank));
      ranks_.back()->clock_ns = rank * job.clock_ns;
      ranks_.back()->Slice(ranks_.back()->fixture.AddThread(), kBackwardOp, timeline::kOp, kStart,
                           kStart + 1, false);
      members_.push_back(rank);
    }
    std::uniform_int_distribution<int64_t> length(100 * kUs, 900 * kUs), gap(5 * kUs, 300 * kUs);
    for (int kernel = 0; kernel < job.kernels; ++kernel) {
      lengths_.push_back(length(random_));
      gaps_.push_back(gap(random_));
    }
    for (int step = 0; step < job.steps; ++step) RunStep(step);
  }

  double MeanStep() const {
    return static_cast<double>(ranks_[0]->now - kStart) / static_cast<double>(job_.steps);
  }

  Model Analyse(std::vector<Finding>& findings) {
    Model model;
    AnalyseInto(model, findings);
    return model;
  }

  void AnalyseInto(Model& model, std::vector<Finding>& findings) {
    for (auto& rank : ranks_)
      rank->fixture.BuildInto(model, {.producer = "kineto", .base_ns = kNone64});
    LinkByCorrelation(model);
    LinkBackward(model);
    for (std::string_view name : {"timeline_collectives", "timeline_clock", "what_if"}) {
      const auto all = AllAnalyses();
      const auto found =
          std::ranges::find_if(all, [&](const Analysis* each) { return each->info.name == name; });
      for (Finding& finding : RunAnalysis(**found, model)) findings.push_back(std::move(finding));
    }
  }

 private:
  // The second half of the kernels is launched by autograd.
  static void LinkBackward(Model& model) {
    auto& launches = model.tables.Edit<TimelineLaunchTable>();
    for (const timeline::TimelineView& view : timeline::Timelines(model)) {
      int32_t backward = kNone32;
      for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
        if (view.NameOf(slice) == kBackwardOp) backward = slice;
      }
      const timeline::RowRange rows = timeline::RowsOf(launches, view.who.input);
      for (size_t row = rows.begin; row < rows.end; ++row) {
        if (view.NameOf(launches.slice[row]) == "gemm_backward") launches.top_op[row] = backward;
      }
    }
  }

  int64_t Noisy(int64_t ns) {
    return std::llround(static_cast<double>(ns) *
                        std::normal_distribution<double>(1, job_.noise)(random_));
  }

  // All ranks end a step together: with the barrier that the collective is.
  void RunStep(int step) {
    int64_t last = 0;
    step_ = static_cast<size_t>(step);
    for (auto& rank : ranks_) {
      auto row = rank->fixture.writer().NewRow<TimelineStepRow>();
      row.step = step;
      row.label = step;
      row.start_ns = rank->now + rank->clock_ns;
      row.whole = 1;
      steps_.push_back(row);
      Compute(*rank);
      last = std::max(last, rank->device);
    }
    for (auto& rank : ranks_) {
      TimelineStepRow& row = steps_[steps_.size() - ranks_.size() + IndexOfRank(*rank)];
      Meet(*rank, last + kLatencyNs, last + kLatencyNs + 2 * kMs);
      row.end_ns = rank->now + rank->clock_ns;
      rank->fixture.part().tables.Edit<TimelineStepTable>().Add(row);
    }
  }

  size_t IndexOfRank(const Rank& rank) const {
    return static_cast<size_t>(
        std::ranges::find_if(ranks_, [&](const auto& each) { return each.get() == &rank; }) -
        ranks_.begin());
  }

  void Compute(Rank& rank) {
    const bool is_slow = IndexOfRank(rank) == static_cast<size_t>(delay_.rank);
    const double factor = (is_slow ? delay_.gpu_factor : 1) *
                          (job_.lengths.empty() ? 1 : job_.lengths[step_][IndexOfRank(rank)]);
    if (is_slow) rank.now += delay_.host_ns;
    for (int kernel = 0; kernel < job_.kernels; ++kernel) {
      const auto at = static_cast<size_t>(kernel);
      rank.now += Noisy(gaps_[at]);
      const int64_t called = rank.now;
      ++rank.correlation;
      rank.Call("cudaLaunchKernel", rank.now + kCallNs, true);
      const int64_t begin = std::max(called + kLatencyNs, rank.device);
      const int64_t length = std::llround(static_cast<double>(Noisy(lengths_[at])) * factor);
      rank.device = begin + length;
      rank.Slice(rank.compute, 2 * kernel < job_.kernels ? "gemm" : "gemm_backward",
                 timeline::kKernel, begin, rank.device, true);
    }
    rank.now += 10 * kUs;
    rank.Call("cudaStreamWaitEvent", rank.now + 2 * kUs, false);
    rank.now += 10 * kUs;
    ++rank.correlation;
    called_.push_back(rank.now);
    rank.device = std::max(rank.device, rank.now);
    rank.Call("cudaLaunchKernelExC", rank.now + kCallNs, true);
  }

  // `last`: when the last one comes.
  void Meet(Rank& rank, int64_t last, int64_t end) {
    const int64_t begin = rank.device + kLatencyNs;
    const int32_t slice = rank.Slice(rank.network, "ncclDevKernel_AllReduce_Sum_bf16",
                                     timeline::kKernel, std::min(begin, last), end, true);
    auto row = rank.fixture.writer().NewRow<TimelineCollectiveRow>();
    row.slice = slice;
    row.op = rank.fixture.writer().Intern("allreduce");
    row.group_name = rank.fixture.writer().Intern("0");
    row.members = rank.fixture.part().pools.lists.Intern(members_);
    row.group_size = job_.ranks;
    row.dtype = rank.fixture.writer().Intern("BFloat16");
    row.in_elements = row.out_elements = 1 << 20;
    rank.fixture.part().tables.Edit<TimelineCollectiveTable>().Add(row);
    rank.device = end;
    rank.now += 10 * kUs;
    rank.Call("cudaDeviceSynchronize", end + 5 * kUs, false);
  }

  Job job_;
  Delay delay_;
  size_t step_ = 0;
  std::mt19937 random_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<int64_t> members_, lengths_, gaps_, called_;
  std::vector<TimelineStepRow> steps_;
};

double StepWith(const Model& model, std::string_view name) {
  const auto& changes = model.tables.Get<WhatIfChangeTable>();
  for (size_t row = 0; row < changes.size(); ++row) {
    if (model.pools.Text(changes.name[row]) == name)
      return static_cast<double>(changes.step_ns[row]);
  }
  return 0;
}

void ExpectTrueReplay(const Model& model, double truth) {
  const auto& jobs = model.tables.Get<WhatIfJobTable>();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs.why_not[0], StringId::kNone);
  EXPECT_LT(jobs.replay_error[0], 0.01);
  EXPECT_NEAR(static_cast<double>(jobs.recorded_ns[0]) / truth, 1, 0.01);
  EXPECT_NEAR(static_cast<double>(jobs.replayed_ns[0]) / truth, 1, 0.01);
}

// Hosts that sleep and GPUs that are slow, on jobs that are bound by their hosts or devices.
TEST(WhatIfProfile, GainOfARankIsTheTruth) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(1000 + seed);
    auto pick = [&](int from, int to) {
      return std::uniform_int_distribution<int>(from, to)(random);
    };
    const Job job = {.ranks = pick(2, 8),
                     .steps = pick(3, 6),
                     .kernels = pick(4, 30),
                     .seed = seed,
                     .clock_ns = seed % 3 == 0 ? 7 * kMs : 0};
    const bool on_host = seed % 2 == 0;
    const Delay delay = {.rank = pick(0, job.ranks - 1),
                         .host_ns = on_host ? pick(5, 60) * kMs : 0,
                         .gpu_factor = on_host ? 1 : 1.5 + 0.1 * pick(0, 20)};
    Simulation slow(job, delay);
    const double truth = Simulation(job, {}).MeanStep();
    std::vector<Finding> findings;
    const Model model = slow.Analyse(findings);
    ExpectTrueReplay(model, slow.MeanStep());
    EXPECT_NEAR(StepWith(model, fmt::format("rank {}", delay.rank)) / truth, 1, 0.05);
    // 10 ms in all is not worth a finding.
    if ((slow.MeanStep() - truth) * job.steps < 15 * kMs) continue;
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].rule, "what_if.slow_rank");
    EXPECT_EQ(findings[0].ranks, std::vector{delay.rank});
  }
}

TEST(WhatIfProfile, NobodyIsNamedInAHealthyJob) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Job job = {.ranks = 4, .seed = seed, .noise = 0.05};
    Simulation healthy(job, {});
    std::vector<Finding> findings;
    const Model model = healthy.Analyse(findings);
    ExpectTrueReplay(model, healthy.MeanStep());
    EXPECT_TRUE(findings.empty());
  }
}

// Sequence lengths that differ from rank to rank and step to step: shared out evenly, steps take as
// long as with mean lengths.
TEST(WhatIfProfile, UnevenSequenceLengthsAreNamed) {
  int named = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Job job = {.ranks = 4, .steps = 6, .kernels = 30, .seed = seed, .noise = 0.01};
    Job even = job;
    for (int step = 0; step < job.steps; ++step) {
      std::vector<double> lengths;
      for (int rank = 0; rank < job.ranks; ++rank)
        lengths.push_back(std::uniform_real_distribution<double>(0.5, 2.5)(random));
      const double mean = std::accumulate(lengths.begin(), lengths.end(), 0.0) / job.ranks;
      job.lengths.push_back(lengths);
      even.lengths.emplace_back(4, mean);
    }
    Simulation simulation(job, {});
    std::vector<Finding> findings;
    const Model model = simulation.Analyse(findings);
    ExpectTrueReplay(model, simulation.MeanStep());
    EXPECT_NEAR(
        StepWith(model, "computing shared out evenly over ranks") / Simulation(even, {}).MeanStep(),
        1, 0.05);
    const auto& jobs = model.tables.Get<WhatIfJobTable>();
    EXPECT_GT(jobs.correlation[0], 0.95);
    EXPECT_GT(jobs.spread[0], 0.1);
    // A rank may have the longest sequences by chance.
    if (findings.size() == 1 && findings[0].rule == "what_if.uneven_work") ++named;
  }
  EXPECT_GE(named, 8);
}

// The collective moves data for 2 ms once all are there: with links twice as fast for 1 ms.
TEST(WhatIfProfile, FasterLinksHalveTransfers) {
  const Job job = {.noise = 0};
  Simulation simulation(job, {});
  std::vector<Finding> findings;
  const Model model = simulation.Analyse(findings);
  EXPECT_NEAR(StepWith(model, "links twice as fast"), simulation.MeanStep() - kMs, 50 * kUs);
}

// What the user asks for is made at once.
TEST(WhatIfProfile, ChangesAreMadeTogether) {
  const Job job = {.noise = 0};
  const Delay delay = {.rank = 2, .host_ns = 30 * kMs};
  Simulation slow(job, delay);
  std::vector<Finding> findings;
  Model model;
  for (const auto& [kind, setting] : {std::pair("rank", "2"), std::pair("link", "4")}) {
    WhatIfSetRow row;
    row.kind = model.pools.Intern(kind);
    row.setting = model.pools.Intern(setting);
    model.tables.Edit<WhatIfSetTable>().Add(row);
  }
  slow.AnalyseInto(model, findings);
  const double truth = Simulation(job, {}).MeanStep() - 1.5 * kMs;
  EXPECT_NEAR(StepWith(model, "rank=2 link=4"), truth, 50 * kUs);
}

}  // namespace what_if_profile_test
}  // namespace debrief::analyses::what_if
