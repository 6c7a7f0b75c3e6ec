// What runs beside what, by hand and against a count of single nanoseconds.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "compat/hta/tables.h"
#include "model/timeline/device_time.h"
#include "tables/profile_kernel_types.h"
#include "tables/profile_overlap.h"
#include "unit/analyses/profile/fixture.h"

namespace debrief::analyses::profile_overlap {

const Analysis& Describe();

namespace profile_overlap_test {

using timeline::kKernel;

// "compute 5; communication 3; " of a definition.
std::string Types(const Model& model, std::string_view definition) {
  const auto& rows = model.tables.Get<ProfileKernelTypesTable>();
  std::string text;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (model.pools.Text(rows.definition[row]) == definition)
      text += fmt::format("{} {} {:.1f} %; ", model.pools.Text(rows.kernel_type[row]),
                          rows.time_ns[row], rows.share_pct[row]);
  }
  return text;
}

TEST(ProfileOverlap, HiddenAndExposed) {
  TimelineFixture timeline;
  int32_t a = timeline.AddStream(7), b = timeline.AddStream(20);
  timeline.AddSlice(a, {"gemm", kKernel, 0, 10'000, 1, kNone64, "kernel"});
  timeline.AddSlice(b, {"ncclKernel", kKernel, 5000, 20'000, 2, kNone64, "kernel"});
  Model model = timeline.Build();
  RunAnalysis(Describe(), model);
  const auto& rows = model.tables.Get<ProfileOverlapTable>();
  ASSERT_EQ(rows.size(), 2u) << "debrief and hta";
  for (size_t row : {0U, 1U}) {
    EXPECT_EQ(rows.computation_ns[row], 10'000);
    EXPECT_EQ(rows.communication_ns[row], 20'000);
    EXPECT_EQ(rows.overlap_ns[row], 5000);
    EXPECT_DOUBLE_EQ(rows.overlap_pct[row], 25);
  }
  EXPECT_EQ(Types(model, "debrief"),
            "communication 15000 60.0 %; compute 5000 20.0 %; compute overlapping communication "
            "5000 20.0 %; ");
  EXPECT_EQ(Types(model, "hta"),
            "COMMUNICATION 15000 60.0 %; COMPUTATION 5000 20.0 %; COMPUTATION overlapping "
            "COMMUNICATION 5000 20.0 %; ");
}

TEST(ProfileOverlap, WithoutCommunicationThereIsNoShare) {
  TimelineFixture timeline;
  timeline.AddSlice(timeline.AddStream(7), {"gemm", kKernel, 0, 10, 1, kNone64, "kernel"});
  Model model = timeline.Build();
  RunAnalysis(Describe(), model);
  const auto& rows = model.tables.Get<ProfileOverlapTable>();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(std::isnan(rows.overlap_pct[0]));
  EXPECT_TRUE(std::isnan(rows.overlap_pct[1]));
}

TEST(ProfileOverlap, StepsHaveTheirOwn) {
  TimelineFixture timeline;
  timeline.AddSlice(timeline.AddStream(7), {"gemm", kKernel, 0, 10});
  timeline.AddSlice(timeline.AddStream(9), {"ncclKernel", kKernel, 4, 10});
  Model model = timeline.Build();
  AddStep(model, 0, {0, 8});
  AddStep(model, 1, {8, 20});
  RunAnalysis(Describe(), model);
  const auto& rows = model.tables.Get<ProfileOverlapTable>();
  ASSERT_EQ(rows.size(), 3u) << "no category, nothing for hta";
  EXPECT_EQ(rows.overlap_ns[1], 4);
  EXPECT_EQ(rows.overlap_ns[2], 2);
  EXPECT_EQ(rows.communication_ns[2], 6);
}

TEST(ProfileOverlap, AgreesWithACountOfNanoseconds) {
  std::mt19937 random(43);
  for (int round = 0; round < 1500; ++round) {
    auto works = RandomWorks(random, 2);
    Model model = ModelOf(works);
    RunAnalysis(Describe(), model);
    std::map<int64_t, int64_t> counted;
    for (int64_t at = 0; at < 80; ++at) {
      int64_t set = 0;
      for (const RandomWork& work : works) {
        if (work.kind < 4 && at >= work.begin && at < work.begin + work.duration)
          set |= int64_t{1} << std::min(work.kind, 2);
      }
      if (set != 0) ++counted[set];
    }
    const auto& rows = model.tables.Get<ProfileKernelTypesTable>();
    std::multiset<int64_t> found, expected;
    for (size_t row = 0; row < rows.size(); ++row) {
      if (model.pools.Text(rows.definition[row]) == "debrief") found.insert(rows.time_ns[row]);
    }
    for (const auto& [set, time] : counted) expected.insert(time);
    ASSERT_EQ(found, expected) << "round " << round;
    const auto& overlaps = model.tables.Get<ProfileOverlapTable>();
    if (overlaps.size() > 0 && model.pools.Text(overlaps.definition[0]) == "debrief") {
      ASSERT_EQ(overlaps.overlap_ns[0], counted[3] + counted[7]);
    }
  }
}

TEST(ProfileOverlap, HtaAgreesWithACountWhereTimesAreWholeMicroseconds) {
  std::mt19937 random(47);
  for (int round = 0; round < 1000; ++round) {
    auto works = RandomWorks(random, 1);
    for (RandomWork& work : works) work.duration = std::abs(work.duration);
    Model model = ModelOf(works, 1000);
    RunAnalysis(Describe(), model);
    int64_t both = 0, communicates = 0;
    for (int64_t at = 0; at < 80; ++at) {
      bool runs[5] = {};
      for (const RandomWork& work : works) {
        if (at >= work.begin && at < work.begin + work.duration) runs[work.kind] = true;
      }
      if (runs[1]) ++communicates;
      if (runs[0] && runs[1]) ++both;
    }
    const auto& rows = model.tables.Get<ProfileOverlapTable>();
    size_t row = rows.size() - 1;
    ASSERT_EQ(model.pools.Text(rows.definition[row]), "hta");
    ASSERT_EQ(rows.communication_ns[row], communicates * 1000);
    ASSERT_EQ(rows.overlap_ns[row], both * 1000);
  }
}

TEST(ProfileOverlap, ClassesOfHta) {
  using hta::Type;
  using hta::TypeOf;
  EXPECT_EQ(TypeOf("ncclDevKernel_AllReduce"), Type::kCommunication);
  EXPECT_EQ(TypeOf("void ncclKernel_Send"), Type::kCommunication);
  EXPECT_EQ(TypeOf("hipMemcpyAsync"), Type::kCommunication) << "whatever begins with hip";
  EXPECT_EQ(TypeOf("Memcpy HtoD (Pageable -> Device)"), Type::kMemory);
  EXPECT_EQ(TypeOf("dma_copy"), Type::kMemory);
  EXPECT_EQ(TypeOf("my_dma_kernel"), Type::kOther);
  EXPECT_EQ(TypeOf("Stream Sync"), Type::kOther);
  EXPECT_EQ(TypeOf("cudaLaunchKernelExC"), Type::kOther);
  EXPECT_EQ(TypeOf("ampere_sgemm"), Type::kComputation);
}

TEST(ProfileOverlap, RoundsHalvesToEven) {
  EXPECT_DOUBLE_EQ(hta::RoundedAsPandas(0.125, 2), 0.12);
  EXPECT_DOUBLE_EQ(hta::RoundedAsPandas(0.375, 2), 0.38);
  EXPECT_DOUBLE_EQ(hta::RoundedAsPandas(14.3149, 2), 14.31);
}

TEST(ProfileOverlap, AnIntervalThatEndsBeforeItBeginsAddsNothing) {
  auto times = timeline::TimeOfSets({{{0, 4}, {8, 7}}, {{2, 10}}});
  EXPECT_EQ(times[1], 2 + 1) << "the end at 7 leaves 2 - 1 running until the begin at 8";
  EXPECT_EQ(times[2], 6 - 1);
  EXPECT_EQ(times[3], 2);
}

}  // namespace profile_overlap_test
}  // namespace debrief::analyses::profile_overlap
