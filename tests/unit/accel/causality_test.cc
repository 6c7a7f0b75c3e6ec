// Work and the calls around it on two clocks: offsets that put causes before effects.
#include "accel/causality.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace debrief::accel {
namespace causality_test {

// A launch every 1000 us; its work begins and the wait comes back a few microseconds later.
struct Recording {
  std::vector<WorkSpan> launches, waits, work;
};

Recording Record(int count, double clock_behind, uint32_t seed = 1) {
  std::mt19937 random(seed);
  const auto few = [&] { return 2 + static_cast<double>(random() % 6); };
  Recording recording;
  for (int i = 0; i < count; ++i) {
    const double launch = 1000.0 * i + 40 * few();
    const double begin = launch + few();
    const double end = begin + 300 + 10 * few();
    recording.launches.push_back({launch, launch + 4});
    recording.waits.push_back({launch + 20, end + few()});
    recording.work.push_back({begin - clock_behind, begin + 100 - clock_behind});
    recording.work.push_back({begin + 150 - clock_behind, end - clock_behind});
  }
  return recording;
}

Placement Place(const Recording& recording) {
  return PlaceWork(recording.work, WindowsOf(recording.launches, recording.waits));
}

TEST(Causality, FindsTheOffsetAndSaysHowExactItIs) {
  for (const double behind : {5e6, -3e9}) {
    const Placement placement = Place(Record(20, behind));
    ASSERT_TRUE(placement.found);
    EXPECT_FALSE(placement.agrees);
    EXPECT_EQ(placement.outside, 0u);
    EXPECT_EQ(placement.equally_good, 1u);
    EXPECT_LE(std::abs(placement.offset_us - behind), placement.residual_us);
    EXPECT_LT(placement.residual_us, 8);
  }
}

TEST(Causality, ClocksThatAgreeStay) {
  const Placement placement = Place(Record(5, 0));
  EXPECT_TRUE(placement.found);
  EXPECT_TRUE(placement.agrees);
}

TEST(Causality, AShorterRecordingFitsInSeveralPlaces) {
  Recording recording = Record(10, 5e6);
  recording.work = {{100, 150}};
  const Placement placement = Place(recording);
  EXPECT_TRUE(placement.found);
  EXPECT_EQ(placement.equally_good, 10u);
}

TEST(Causality, OneWrongPieceInTenIsTolerated) {
  Recording recording = Record(20, 5e6);
  recording.work.push_back({900 - 5e6, 950 - 5e6});  // between two windows
  const Placement placement = Place(recording);
  EXPECT_TRUE(placement.found);
  EXPECT_EQ(placement.outside, 1u);
  EXPECT_LE(std::abs(placement.offset_us - 5e6), placement.residual_us);
}

TEST(Causality, WorkThatFitsNowhereIsRefused) {
  Recording recording = Record(4, 0);
  recording.work = {{0, 5000}};  // longer than every window
  EXPECT_FALSE(Place(recording).found);
  EXPECT_FALSE(PlaceWork({}, WindowsOf(recording.launches, recording.waits)).found);
  EXPECT_FALSE(PlaceWork({{0, 1}}, {}).found);
}

TEST(Causality, WithoutAWaitOnlyTheBeginIsBound) {
  Recording recording = Record(3, 5e6);
  recording.waits.clear();
  const Placement placement = Place(recording);
  EXPECT_TRUE(placement.found);
  EXPECT_FALSE(placement.is_bounded);
  EXPECT_NEAR(placement.offset_us + recording.work[0].begin, recording.launches[0].begin, 1e-6);
}

TEST(Causality, LaunchesBeforeOneWaitShareAWindow) {
  const std::vector<WorkSpan> launches = {{10, 12}, {20, 22}, {100, 101}};
  const std::vector<WorkSpan> waits = {{30, 60}, {110, 150}};
  const std::vector<WorkSpan> windows = WindowsOf(launches, waits);
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_EQ(windows[0].begin, 10);
  EXPECT_EQ(windows[0].end, 60);
  EXPECT_EQ(windows[1].end, 150);
}

TEST(Causality, ManyLaunchesStayCheap) {
  const Placement placement = Place(Record(20'000, 7e6));
  EXPECT_TRUE(placement.found);
  EXPECT_LE(std::abs(placement.offset_us - 7e6), placement.residual_us + 1);
}

}  // namespace causality_test
}  // namespace debrief::accel
