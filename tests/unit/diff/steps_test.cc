// Steps of made-up jobs: which part of which rank is to blame, and that parts add up.
#include "diff/steps.h"

#include <gtest/gtest.h>

#include <numeric>

namespace debrief::diff {
namespace steps_test {

constexpr int64_t kMs = 1'000'000;
using enum StepPart;

StepTimes Step(int64_t host, int64_t gpu, int64_t waiting, int64_t total) {
  StepTimes times;
  times.total = total;
  times[kHost] = host;
  times[kGpu] = gpu;
  times[kWaiting] = waiting;
  times[kRest] = total - host - gpu - waiting;
  return times;
}

// `ranks` times `steps`, each a little different from the others.
StepsOfRanks Job(int32_t ranks, int64_t steps) {
  StepsOfRanks job;
  for (int32_t rank = 0; rank < ranks; ++rank)
    for (int64_t step = 0; step < steps; ++step)
      job[rank][step] = Step(10 * kMs + step * 1000, 80 * kMs + rank * 777, 5 * kMs,
                             100 * kMs + step * 31'013 + rank);
  return job;
}

void ExpectExact(const StepChange& change) {
  int64_t a = 0, b = 0;
  for (const Change& part : change.parts) {
    a += part.a;
    b += part.b;
  }
  EXPECT_EQ(a, change.total.a);
  EXPECT_EQ(b, change.total.b);
}

// On one rank host or GPU takes longer; the others wait as long.
StepsOfRanks Slower(int32_t rank, StepPart part) {
  StepsOfRanks job = Job(4, 5);
  for (auto& [each, steps] : job) {
    for (auto& [step, times] : steps) {
      times[each == rank ? part : kWaiting] += 50 * kMs;
      times.total += 50 * kMs;
    }
  }
  return job;
}

TEST(DiffSteps, IdenticalJobsDoNotDiffer) {
  const auto diff = DiffSteps(Job(4, 5), Job(4, 5));
  ASSERT_TRUE(diff);
  EXPECT_FALSE(diff->has_changed());
  EXPECT_EQ(diff->job.total.difference(), 0);
}

TEST(DiffSteps, TheRankWhoseHostTakesLongerIsToBlame) {
  const auto diff = DiffSteps(Job(4, 5), Slower(2, kHost));
  ASSERT_TRUE(diff && diff->blame);
  EXPECT_EQ(diff->blame->part, kHost);
  EXPECT_EQ(diff->blame->ranks, std::vector<int32_t>{2});
  EXPECT_EQ(diff->blame->change.difference(), 50 * kMs);
  EXPECT_EQ(diff->blame->others_wait_ns, 50 * kMs);
  EXPECT_EQ(StepHeadline(*diff),
            "Steps take 50.0 ms longer (+50 %), because of the host of rank 2 (+50.0 ms per step)");
}

TEST(DiffSteps, TheOtherWayRoundItGotBetter) {
  const auto diff = DiffSteps(Slower(1, kGpu), Job(4, 5));
  ASSERT_TRUE(diff && diff->blame);
  EXPECT_EQ(diff->blame->part, kGpu);
  EXPECT_EQ(StepHeadline(*diff),
            "Steps take 50.0 ms less (-33 %), because of the GPU of rank 1 (-50.0 ms per step)");
}

TEST(DiffSteps, PartsAddUpForTheJobAndForEachRank) {
  const auto diff = DiffSteps(Job(3, 7), Slower(1, kHost));
  ASSERT_TRUE(diff);
  ExpectExact(diff->job);
  EXPECT_EQ(diff->ranks.size(), 3u);
  for (const auto& [rank, change] : diff->ranks) ExpectExact(change);
}

TEST(DiffSteps, WhatAllRanksDoLongerIsNoRanksFault) {
  StepsOfRanks slower = Job(4, 5);
  for (auto& [rank, steps] : slower) {
    for (auto& [step, times] : steps) {
      times[kGpu] += 30 * kMs;
      times.total += 30 * kMs;
    }
  }
  const auto diff = DiffSteps(Job(4, 5), slower);
  ASSERT_TRUE(diff && diff->blame);
  EXPECT_EQ(diff->blame->part, kGpu);
  EXPECT_TRUE(diff->blame->ranks.empty());
}

TEST(DiffSteps, AStepThatIsUnusuallyLongIsLeftOut) {
  StepsOfRanks warm = Job(4, 5);
  for (auto& [rank, steps] : warm) steps[0].total += 500 * kMs;
  const auto diff = DiffSteps(Job(4, 5), warm);
  ASSERT_TRUE(diff);
  EXPECT_EQ(diff->left_out_b, 1u);
  EXPECT_FALSE(diff->has_changed());
}

TEST(DiffSteps, WithoutStepsThereIsNothingToCompare) {
  EXPECT_FALSE(DiffSteps({}, Job(2, 3)));
  EXPECT_FALSE(DiffSteps(Job(2, 3), {}));
}

}  // namespace steps_test
}  // namespace debrief::diff
