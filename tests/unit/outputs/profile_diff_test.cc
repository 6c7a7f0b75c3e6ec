// Two profiles with known differences: the pieces are right and add up to the nanosecond.
#include "outputs/terminal/profile_diff/profile_diff.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "unit/analyses/profile/fixture.h"

namespace debrief {

namespace analyses::profile_breakdown {
const Analysis& Describe();
}

namespace outputs::profile_diff {
namespace profile_diff_test {

using timeline::kKernel;
using timeline::kOp;
using timeline::kRuntime;

struct Kernel {
  std::string_view name;
  std::string_view op;
  int64_t duration = 0;
  int64_t stream = 7;
};

// Each step launches its kernels one after the other on their streams; `length` apart.
class ProfileMaker {
 public:
  void AddStepOf(const std::vector<Kernel>& kernels, int64_t length) {
    steps_.push_back({at_, at_ + length});
    int64_t host = at_;
    std::map<int64_t, int64_t> free;  // by stream
    for (const Kernel& kernel : kernels) {
      timeline_.AddSlice(thread_, {kernel.op, kOp, host, 2});
      timeline_.AddSlice(thread_, {"cudaLaunchKernel", kRuntime, host, 1, ++correlation_});
      int64_t& next = free.try_emplace(kernel.stream, at_ + 5).first->second;
      timeline_.AddSlice(Stream(kernel.stream),
                         {kernel.name, kKernel, next, kernel.duration, correlation_});
      next += kernel.duration;
      host += 2;
    }
    at_ += length;
  }

  Model Build() {
    Model model = timeline_.Build();
    LinkByCorrelation(model);
    for (size_t i = 0; i < steps_.size(); ++i) {
      AddStep(model, static_cast<int32_t>(i), steps_[i], steps_[i].end);
      model.tables.Edit<TimelineStepTable>().whole.back() = true;
    }
    RunAnalysis(analyses::profile_breakdown::Describe(), model);
    return model;
  }

 private:
  int32_t Stream(int64_t number) {
    auto [at, is_new] = streams_.try_emplace(number, 0);
    if (is_new) at->second = timeline_.AddStream(number);
    return at->second;
  }

  TimelineFixture timeline_;
  int32_t thread_ = timeline_.AddThread();
  std::map<int64_t, int32_t> streams_;
  std::vector<Interval> steps_;
  int64_t at_ = 0;
  int64_t correlation_ = 0;
};

const NameDiff* Named(const std::vector<NameDiff>& names, std::string_view name) {
  for (const NameDiff& found : names)
    if (found.name == name) return &found;
  return nullptr;
}

void ExpectItAddsUp(const ProfileDiff& diff) {
  auto add = [](int64_t& a, int64_t& b, const Change& change) {
    a += change.a;
    b += change.b;
  };
  int64_t total_a = 0, total_b = 0;
  for (const PartDiff& part : diff.parts) {
    add(total_a, total_b, part.time);
    if (part.part == TimePart::kIdle) continue;
    int64_t a = 0, b = 0;
    for (const NameDiff& kernel : diff.kernels)
      if (kernel.part == part.part) add(a, b, kernel.time);
    for (const PartDiff& overlap : diff.overlaps)
      if (overlap.part == part.part) add(a, b, overlap.time);
    EXPECT_EQ(a, part.time.a) << PartName(part.part);
    EXPECT_EQ(b, part.time.b) << PartName(part.part);
  }
  EXPECT_EQ(total_a, diff.total.a);
  EXPECT_EQ(total_b, diff.total.b);
  for (const auto* names : {&diff.kernels, &diff.ops})
    for (const NameDiff& name : *names)
      EXPECT_EQ(name.count_effect_ns + name.duration_effect_ns, name.time.difference())
          << name.name;
}

TEST(ProfileDiff, KnownDifferencesAreFound) {
  ProfileMaker a, b;
  for (int i = 0; i < 4; ++i) {
    a.AddStepOf({{"gemm", "aten::mm", 100},
                 {"gemm", "aten::mm", 100},
                 {"relu", "aten::relu", 50},
                 {"old", "aten::sum", 30}},
                1000);
    b.AddStepOf({{"gemm", "aten::mm", 100},
                 {"gemm", "aten::mm", 100},
                 {"gemm", "aten::mm", 100},
                 {"relu", "aten::relu", 70},
                 {"new", "aten::sum", 40},
                 {"ncclDevKernel_AllReduce", "c10d::allreduce_", 200}},
                1100);
  }
  Model model_a = a.Build(), model_b = b.Build();
  auto result = DiffProfiles({model_a}, {model_b});
  ASSERT_TRUE(result.ok());
  const ProfileDiff& diff = result.value();
  EXPECT_EQ(diff.unit, Unit::kStep);
  EXPECT_EQ(diff.samples_a, 4);
  EXPECT_EQ(diff.total.difference(), 100);
  EXPECT_EQ(SignificanceName(diff.total), "significant");
  EXPECT_EQ(diff.parts[0].time.difference(), 130) << "compute";
  EXPECT_EQ(diff.parts[1].time.difference(), 200) << "communication";
  EXPECT_EQ(diff.parts[3].time.difference(), -230) << "idle";
  const NameDiff* gemm = Named(diff.kernels, "gemm");
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->verdict, "more_launches");
  EXPECT_EQ(gemm->count_effect_ns, 100);
  EXPECT_EQ(gemm->duration_effect_ns, 0);
  EXPECT_EQ(Named(diff.kernels, "relu")->verdict, "slower");
  EXPECT_EQ(Named(diff.kernels, "relu")->duration_effect_ns, 20);
  EXPECT_EQ(Named(diff.kernels, "old")->verdict, "gone");
  EXPECT_EQ(Named(diff.kernels, "new")->verdict, "new");
  EXPECT_EQ(Named(diff.ops, "aten::sum")->time.difference(), 10) << "kernels differ, the op is one";
  EXPECT_EQ(Named(diff.ops, "aten::sum")->verdict, "slower");
  ExpectItAddsUp(diff);
}

TEST(ProfileDiff, WhatRanBesideOtherWorkIsALineOfItsOwn) {
  ProfileMaker a, b;
  a.AddStepOf({{"gemm", "aten::mm", 100}, {"relu", "aten::relu", 60}}, 500);
  b.AddStepOf({{"gemm", "aten::mm", 100}, {"relu", "aten::relu", 60, 20}}, 500);
  Model model_a = a.Build(), model_b = b.Build();
  auto result = DiffProfiles({model_a}, {model_b});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->parts[0].time.difference(), -60);
  EXPECT_EQ(result->overlaps[0].time.difference(), -60);
  EXPECT_EQ(Named(result->kernels, "relu")->verdict, "same");
  EXPECT_EQ(SignificanceName(result->total), "unknown") << "one step is no scatter";
  ExpectItAddsUp(*result.operator->());
}

TEST(ProfileDiff, ScatterIsNoDifference) {
  ProfileMaker a, b;
  const int64_t noise[] = {0, 40, -30, 20, -10, 30};
  for (int i = 0; i < 6; ++i) {
    a.AddStepOf({{"gemm", "aten::mm", 300 + noise[i]}, {"relu", "aten::relu", 50}}, 1000);
    b.AddStepOf({{"gemm", "aten::mm", 305 + noise[5 - i]}, {"relu", "aten::relu", 90}}, 1000);
  }
  Model model_a = a.Build(), model_b = b.Build();
  auto result = DiffProfiles({model_a}, {model_b});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(SignificanceName(Named(result->kernels, "gemm")->time), "within_noise");
  EXPECT_EQ(SignificanceName(Named(result->kernels, "relu")->time), "significant");
}

TEST(ProfileDiff, OneOddStepIsNoDifference) {
  ProfileMaker a, b;
  const int64_t noise[] = {0, 4, -3, 2, -1, 3};
  for (int i = 0; i < 6; ++i) {
    a.AddStepOf({{"gemm", "aten::mm", 300 + noise[i]}}, 1000);
    b.AddStepOf({{"gemm", "aten::mm", i == 2 ? 900 : 300 + noise[i]}}, 1000);
  }
  Model model_a = a.Build(), model_b = b.Build();
  auto result = DiffProfiles({model_a}, {model_b});
  ASSERT_TRUE(result.ok());
  EXPECT_GT(result->kernels[0].time.difference(), 50);
  EXPECT_EQ(SignificanceName(result->kernels[0].time), "within_noise");
}

TEST(ProfileDiff, AnyTwoProfilesAddUp) {
  std::mt19937 random(7);
  static constexpr std::string_view kNames[] = {"gemm", "relu", "ncclDevKernel_AllGather", "norm"};
  auto make = [&] {
    ProfileMaker maker;
    const auto steps = 1 + random() % 7;
    for (size_t step = 0; step < steps; ++step) {
      std::vector<Kernel> kernels(1 + random() % 9);
      for (Kernel& kernel : kernels)
        kernel = {kNames[random() % 4], kNames[random() % 2], static_cast<int64_t>(random() % 1000),
                  7 + static_cast<int64_t>(random() % 2)};
      maker.AddStepOf(kernels, 2000 + static_cast<int64_t>(random() % 3000));
    }
    return maker.Build();
  };
  for (int round = 0; round < 100; ++round) {
    Model a = make(), b = make();
    auto result = DiffProfiles({a}, {b});
    ASSERT_TRUE(result.ok());
    ExpectItAddsUp(result.value());
  }
}

TEST(ProfileDiff, TheSameTwiceDiffersInNothing) {
  ProfileMaker maker;
  for (int i = 0; i < 3; ++i) maker.AddStepOf({{"gemm", "aten::mm", 100 + i}}, 777);
  Model model = maker.Build();
  auto result = DiffProfiles({model}, {model});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->total.difference(), 0);
  for (const NameDiff& kernel : result->kernels) EXPECT_EQ(kernel.verdict, "same");
  EXPECT_TRUE(DiffText(result.value(), {}).starts_with("B takes as long per step as A"));
}

TEST(ProfileDiff, WithoutStepsTimelinesAreCompared) {
  TimelineFixture fixture;
  fixture.AddSlice(fixture.AddStream(7), {"gemm", kKernel, 0, 10, 1});
  Model a = fixture.Build();
  RunAnalysis(analyses::profile_breakdown::Describe(), a);
  ProfileMaker maker;
  maker.AddStepOf({{"gemm", "aten::mm", 15}}, 100);
  Model b = maker.Build();
  auto result = DiffProfiles({a}, {b});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->unit, Unit::kTimeline);
  EXPECT_EQ(result->total.difference(), 5);
  ExpectItAddsUp(result.value());
}

TEST(ProfileDiff, ASideWithoutWorkIsAnError) {
  Model empty;
  ProfileMaker maker;
  maker.AddStepOf({{"gemm", "aten::mm", 15}}, 100);
  Model b = maker.Build();
  auto result = DiffProfiles({empty}, {b});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::kNotFound);
}

TEST(ProfileDiff, TextCsvAndJsonHaveTheFigures) {
  ProfileMaker a, b;
  for (int i = 0; i < 3; ++i) {
    a.AddStepOf({{"gemm<a, \"b\">", "aten::mm", 100}}, 1000);
    b.AddStepOf({{"gemm<a, \"b\">", "aten::mm", 250}}, 1200);
  }
  Model model_a = a.Build(), model_b = b.Build();
  auto result = DiffProfiles({model_a}, {model_b});
  ASSERT_TRUE(result.ok());
  const std::string text = DiffText(result.value(), {.name_a = "old", .name_b = "new"});
  EXPECT_TRUE(
      text.starts_with("B takes 200 ns longer per step than A: 1.00 us -> 1.20 us (+20 %)\n"
                       "  A: old\n  B: new\n"))
      << text;
  EXPECT_NE(text.find("+150 ns"), std::string::npos) << text;
  const std::string csv = DiffCsv(result.value());
  EXPECT_NE(
      csv.find("kernel,compute,\"gemm<a, \"\"b\"\">\",100,250,150,0,significant,3,3,0,150,slower"),
      std::string::npos)
      << csv;
  const std::string json = DiffJson(result.value(), {});
  EXPECT_NE(json.find("\"difference_ns\": 200"), std::string::npos) << json;
}

}  // namespace profile_diff_test
}  // namespace outputs::profile_diff
}  // namespace debrief
