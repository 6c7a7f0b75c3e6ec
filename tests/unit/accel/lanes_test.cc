#include "accel/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace debrief::accel {
namespace lanes_test {

struct LaneSlice {
  double start = 0, end = 0;
};

TEST(Lanes, SlicesApartAndInsideEachOtherShareALane) {
  Lanes lanes;
  EXPECT_EQ(lanes.Place(0, 10), 0u);
  EXPECT_EQ(lanes.Place(0, 10), 0u);
  EXPECT_EQ(lanes.Place(2, 5), 0u);
  EXPECT_EQ(lanes.Place(5, 10), 0u);  // touching is not overlapping
  EXPECT_EQ(lanes.Place(10, 12), 0u);
  EXPECT_EQ(lanes.count(), 1u);
}

TEST(Lanes, AHalfOverlapOpensALane) {
  Lanes lanes;
  EXPECT_EQ(lanes.Place(0, 10), 0u);
  EXPECT_EQ(lanes.Place(5, 15), 1u);
  EXPECT_EQ(lanes.Place(6, 9), 0u);
  EXPECT_EQ(lanes.Place(7, 14), 1u);
  EXPECT_EQ(lanes.Place(8, 20), 2u);
  EXPECT_EQ(lanes.Place(20, 30), 0u);
}

TEST(Lanes, ThereIsNoLimit) {
  Lanes lanes;
  constexpr int kSlices = 20'000;
  for (int i = 0; i < kSlices; ++i) lanes.Place(i, kSlices + i);
  EXPECT_EQ(lanes.count(), size_t{kSlices});
}

TEST(Lanes, NoTwoSlicesOfALaneOverlapHalf) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<LaneSlice> slices(200);
    for (LaneSlice& slice : slices) {
      slice.start = static_cast<double>(random() % 500);
      slice.end = slice.start + static_cast<double>(random() % 60);
    }
    std::sort(slices.begin(), slices.end(), [](const LaneSlice& a, const LaneSlice& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    Lanes lanes;
    std::vector<std::vector<LaneSlice>> placed;
    for (const LaneSlice& slice : slices) {
      const size_t lane = lanes.Place(slice.start, slice.end);
      placed.resize(lanes.count());
      for (const LaneSlice& other : placed[lane]) {
        const bool half =
            other.start < slice.start && slice.start < other.end && other.end < slice.end;
        ASSERT_FALSE(half) << other.start << "-" << other.end << " and " << slice.start << "-"
                           << slice.end;
      }
      placed[lane].push_back(slice);
    }
  }
}

}  // namespace lanes_test
}  // namespace debrief::accel
