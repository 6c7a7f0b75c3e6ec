// Replayed jobs of pipeline stages against a simulation of the same pipelines.
//
// The simulation knows nothing of graphs: workers do one forward and one backward at a time, in
// turns, and meet at transfers. What a job takes without its slow worker is simulated as well, so
// that the gain that the replay promises can be compared with the truth.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "analyses/what_if/stragglers.h"

namespace debrief::analyses::what_if::what_if_test {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kTransfer = 200'000;
constexpr int64_t kSync = 3 * kMs;
constexpr int64_t kLastOp = 2 * kMs;

struct Work {
  bool backward = false;
  size_t replica = 0, stage = 0, step = 0, microbatch = 0;
};
using Cost = std::function<double(const Work&)>;

class Pipelines {
 public:
  Pipelines(size_t replicas, size_t stages, size_t microbatches, size_t steps)
      : replicas_(replicas), stages_(stages), microbatches_(microbatches), steps_(steps) {}

  // The job as it would be recorded.
  StageJob Record(const Cost& cost) {
    job_ = {.replicas = replicas_, .stages = stages_};
    for (size_t step = 0; step < steps_; ++step) job_.steps.push_back(static_cast<int64_t>(step));
    for (size_t worker = 0; worker < replicas_ * stages_; ++worker)
      job_.ranks.push_back(static_cast<int32_t>(worker));
    AddOps();
    for (size_t step = 0; step < steps_; ++step) RunStep(step, cost);
    return job_;
  }

  // Mean step time.
  double Simulate(const Cost& cost) {
    Record(cost);
    return std::accumulate(times_.end() - static_cast<std::ptrdiff_t>(steps_), times_.end(), 0.0) /
           static_cast<double>(steps_);
  }

 private:
  void AddOps() {
    for (size_t stage = 0; stage < stages_; ++stage) {
      for (size_t type = 0; type < kOpTypes; ++type) {
        const size_t count = CountOf(static_cast<OpType>(type), stage);
        job_.ranges.push_back({job_.ops.size(), count});
        for (size_t i = 0; i < count; ++i)
          job_.ops.push_back({static_cast<OpType>(type), stage, i, 0, static_cast<int32_t>(i)});
      }
    }
    job_.start_ns.assign(job_.ops.size() * job_.lanes(), 0);
    job_.length_ns = job_.start_ns;
  }

  size_t CountOf(OpType type, size_t stage) const {
    const bool is_first = stage == 0, is_last = stage + 1 == stages_;
    switch (type) {
      case OpType::kForward:
      case OpType::kBackward:
        return microbatches_;
      case OpType::kForwardSend:
      case OpType::kBackwardRecv:
        return is_last ? 0 : microbatches_;
      case OpType::kForwardRecv:
      case OpType::kBackwardSend:
        return is_first ? 0 : microbatches_;
      case OpType::kGradsScatter:
      case OpType::kOptimizer:
        return 1;
      default:
        return 0;
    }
  }

  void Put(OpType type, const Work& work, size_t number, double start, double length) {
    const size_t at =
        job_.At(job_.Of(type, work.stage).begin + number, work.step * replicas_ + work.replica);
    job_.start_ns[at] = std::llround(start);
    job_.length_ns[at] = std::llround(start + length) - std::llround(start);
  }

  std::vector<Work> OrderOf(size_t replica, size_t stage, size_t step) const {
    const size_t warm_up = std::min(stages_ - 1 - stage, microbatches_);
    std::vector<Work> order;
    auto add = [&](bool backward, size_t microbatch) {
      order.push_back({backward, replica, stage, step, microbatch});
    };
    for (size_t i = 0; i < warm_up; ++i) add(false, i);
    for (size_t i = 0; i < microbatches_; ++i) {
      if (warm_up + i < microbatches_) add(false, warm_up + i);
      add(true, i);
    }
    return order;
  }

  // One op, when what it waits for is there.
  bool Do(const Work& work, const Cost& cost) {
    const size_t source = work.backward ? work.stage + 1 : work.stage - 1;
    double start = ended_[work.replica][work.stage];
    double& posted = posted_[{work.replica, work.stage, work.backward}];
    if (work.backward ? source < stages_ : work.stage > 0) {
      const auto sent = sent_.find({work.replica, source, work.backward, work.microbatch});
      if (sent == sent_.end()) return false;
      // A receive is posted when the computing before it is done.
      const double meet = std::max(sent->second, posted);
      Work other = work;
      other.stage = source;
      Put(work.backward ? OpType::kBackwardRecv : OpType::kForwardRecv, work, work.microbatch, meet,
          kTransfer);
      Put(work.backward ? OpType::kBackwardSend : OpType::kForwardSend, other, work.microbatch,
          meet, kTransfer);
      start = std::max(start, meet + kTransfer);
    }
    const double end = start + cost(work);
    Put(work.backward ? OpType::kBackward : OpType::kForward, work, work.microbatch, start,
        end - start);
    sent_[{work.replica, work.stage, work.backward, work.microbatch}] = end;
    posted = ended_[work.replica][work.stage] = end;
    return true;
  }

  void RunStep(size_t step, const Cost& cost) {
    ended_.assign(replicas_, std::vector<double>(stages_));
    sent_.clear();
    posted_.clear();
    std::vector<std::vector<Work>> orders;
    for (size_t worker = 0; worker < replicas_ * stages_; ++worker)
      orders.push_back(OrderOf(worker / stages_, worker % stages_, step));
    std::vector<size_t> next(orders.size());
    for (bool is_busy = true; is_busy;) {
      is_busy = false;
      for (size_t worker = 0; worker < orders.size(); ++worker) {
        while (next[worker] < orders[worker].size() && Do(orders[worker][next[worker]], cost)) {
          ++next[worker];
          is_busy = true;
        }
      }
    }
    double last = 0;
    for (size_t stage = 0; stage < stages_; ++stage) {
      double meet = 0;
      for (const auto& replica : ended_) meet = std::max(meet, replica[stage]);
      for (size_t replica = 0; replica < replicas_; ++replica) {
        const Work work = {false, replica, stage, step, 0};
        Put(OpType::kGradsScatter, work, 0, meet, kSync);
        Put(OpType::kOptimizer, work, 0, meet + kSync, kLastOp);
      }
      last = std::max(last, meet + kSync + kLastOp);
    }
    times_.push_back(last);
  }

  size_t replicas_, stages_, microbatches_, steps_;
  StageJob job_;
  std::vector<std::vector<double>> ended_;  // by replica and stage
  std::map<std::tuple<size_t, size_t, bool, size_t>, double> sent_;
  std::map<std::tuple<size_t, size_t, bool>, double> posted_;
  std::vector<double> times_;
};

double Usual(const Work& work) { return static_cast<double>(work.backward ? 20 * kMs : 10 * kMs); }

Stragglers StragglersOf(const StageJob& job) {
  std::string why_not;
  const auto graph = BuildStageGraph(job, why_not);
  EXPECT_TRUE(graph.has_value()) << why_not;
  return graph ? FindStragglers(job, *graph) : Stragglers();
}

double MeanOfType(const StageJob& job, OpType type) {
  double sum = 0, count = 0;
  for (size_t op = 0; op < job.ops.size(); ++op) {
    if (job.ops[op].type != type) continue;
    for (size_t lane = 0; lane < job.lanes(); ++lane) {
      sum += static_cast<double>(job.length_ns[job.At(op, lane)]);
      ++count;
    }
  }
  return sum / count;
}

TEST(WhatIfTest, HealthyJobIsNotAccused) {
  const StageJob job = Pipelines(2, 4, 6, 3).Record(Usual);
  const Stragglers found = StragglersOf(job);
  EXPECT_NEAR(found.slowdown, 1, 1e-9);
  EXPECT_NEAR(found.gap, 1, 1e-9);
  EXPECT_LT(found.replay_error, 1e-9);
  EXPECT_EQ(CausesOf(job, found), std::vector{Cause::kNone});
}

// Noise of a few percent is no straggler either.
TEST(WhatIfTest, NoiseIsNotAccused) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(1, 0.01);
  const StageJob job =
      Pipelines(4, 2, 8, 5).Record([&](const Work& work) { return Usual(work) * noise(random); });
  const Stragglers found = StragglersOf(job);
  EXPECT_LT(found.slowdown, kLeastSlowdown);
  EXPECT_EQ(CausesOf(job, found), std::vector{Cause::kNone});
}

// 40 random jobs, each with one worker that takes longer: the replay gives back the recording,
// names the worker, and what it promises for a typical worker is what the simulation says.
TEST(WhatIfTest, SlowWorkerIsNamedAndItsGainIsTrue) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    auto pick = [&](size_t from, size_t to) {
      return std::uniform_int_distribution<size_t>(from, to)(random);
    };
    const size_t replicas = pick(2, 4), stages = pick(2, 4);
    const size_t microbatches = stages * pick(2, 4), slow = pick(0, replicas * stages - 1);
    const double factor = 1.5 + 0.1 * static_cast<double>(pick(0, 15));
    auto is_slow = [&](const Work& work) { return work.replica * stages + work.stage == slow; };
    Pipelines pipelines(replicas, stages, microbatches, 3);
    const StageJob job = pipelines.Record(
        [&](const Work& work) { return Usual(work) * (is_slow(work) ? factor : 1); });
    const Stragglers found = StragglersOf(job);
    EXPECT_NEAR(found.gap, 1, 1e-6) << seed;
    EXPECT_LT(found.replay_error, 1e-6) << seed;
    EXPECT_EQ(found.worst, std::vector{slow}) << seed;
    const std::vector<Cause> causes = CausesOf(job, found);
    EXPECT_EQ(causes.front(), Cause::kWorkers) << seed;
    const double truth = pipelines.Simulate([&](const Work& work) {
      if (!is_slow(work)) return Usual(work);
      return MeanOfType(job, work.backward ? OpType::kBackward : OpType::kForward);
    });
    const double promised =
        found.replayed - found.worst_workers.removed * (found.replayed - found.ideal);
    EXPECT_NEAR(promised / truth, 1, 1e-6) << seed;
  }
}

// The worst 3 % of 80 workers are three. Two are slow; the third has the score of its replica and
// of its stage, as a neighbour of both.
TEST(WhatIfTest, OnlyWorkersThatMatterAreNamed) {
  const StageJob job = Pipelines(40, 2, 4, 3).Record([](const Work& work) {
    const bool is_slow =
        (work.replica == 7 && work.stage == 1) || (work.replica == 20 && work.stage == 0);
    return Usual(work) * (is_slow ? 1.5 : 1);
  });
  Stragglers found = StragglersOf(job);
  EXPECT_EQ(found.worst.size(), 3);
  std::ranges::sort(found.named);
  EXPECT_EQ(found.named, (std::vector<size_t>{15, 40}));
}

TEST(WhatIfTest, LastStageIsNamed) {
  const StageJob job = Pipelines(2, 4, 8, 3).Record([](const Work& work) {
    return Usual(work) * (work.stage == 3 ? 1.4 : 1);
  });
  const Stragglers found = StragglersOf(job);
  EXPECT_EQ(CausesOf(job, found), std::vector{Cause::kLastStage});
  EXPECT_GT(found.division, 0.99);
  EXPECT_GT(found.stages[3].slowdown, found.stages[0].slowdown);
}

TEST(WhatIfTest, MicrobatchesThatVaryAreNamed) {
  std::mt19937 random(3);
  std::map<std::tuple<size_t, size_t, size_t>, double> lengths;
  auto cost = [&](bool together) {
    return [&, together](const Work& work) {
      const size_t which = together ? work.microbatch : work.microbatch + (work.backward ? 100 : 0);
      auto [found, is_new] = lengths.try_emplace({work.replica, work.step, which}, 0);
      if (is_new) found->second = std::uniform_real_distribution<double>(0.3, 2)(random);
      return Usual(work) * found->second;
    };
  };
  const StageJob lengths_vary = Pipelines(4, 2, 8, 12).Record(cost(true));
  EXPECT_EQ(CausesOf(lengths_vary, StragglersOf(lengths_vary)).front(), Cause::kSequenceLengths);
  lengths.clear();
  const StageJob work_varies = Pipelines(4, 2, 8, 12).Record(cost(false));
  EXPECT_EQ(CausesOf(work_varies, StragglersOf(work_varies)).front(), Cause::kVariation);
}

TEST(WhatIfTest, SendWithoutReceiveCannotBeReplayed) {
  StageJob job = Pipelines(1, 3, 2, 1).Record(Usual);
  // The middle stage computed more forward passes than it received.
  const StageJob::Range recv = job.Of(OpType::kForwardRecv, 1);
  for (size_t i = 0; i < recv.count; ++i) job.start_ns[job.At(recv.begin + i, 0)] = 3600'000 * kMs;
  std::string why_not;
  EXPECT_FALSE(BuildStageGraph(job, why_not).has_value());
  EXPECT_EQ(why_not, "stage 1 has 0 ops forward-recv for 2 of computing");
}

TEST(WhatIfTest, OneStageHasNoLastStage) {
  const StageJob job = Pipelines(4, 1, 4, 3).Record([](const Work& work) {
    return Usual(work) * (work.replica == 2 ? 2 : 1);
  });
  const Stragglers found = StragglersOf(job);
  EXPECT_EQ(found.worst, std::vector<size_t>{2});
  EXPECT_TRUE(std::isnan(found.last_stage.removed));
  EXPECT_EQ(CausesOf(job, found).front(), Cause::kWorkers);
}

}  // namespace debrief::analyses::what_if::what_if_test
