// Peaks of device memory and what holds them, from the tables of profiles.
#include <gtest/gtest.h>

#include "diff/run_diff.h"
#include "tables/profile_memory_holder.h"
#include "tables/profile_memory_peak.h"

namespace debrief::diff {
namespace memory_test {

constexpr int64_t kMB = 1'000'000;

// Two ranks; rank 1 needs `more` at its peak, which aten::mm holds.
Model WithPeaks(int64_t more) {
  Model model;
  for (int32_t rank : {0, 1}) {
    const Identity who{.input = rank, .job = 0, .attempt = 0, .rank = rank};
    const int64_t bytes = 500 * kMB + (rank == 1 ? more : 0);
    auto peak = Part::RowOf<ProfileMemoryPeakRow>(who);
    peak.input = rank;
    peak.device_type = 1;
    peak.peak_allocated_bytes = bytes;
    model.tables.Edit<ProfileMemoryPeakTable>().Add(peak);
    peak.device_type = 0;  // memory of the host, which does not count
    peak.peak_allocated_bytes = 9000 * kMB + 1000 * more;
    model.tables.Edit<ProfileMemoryPeakTable>().Add(peak);
    auto holder = Part::RowOf<ProfileMemoryHolderRow>(who);
    holder.input = rank;
    holder.device_type = 1;
    holder.op = model.pools.Intern("aten::mm");
    holder.bytes = bytes;
    model.tables.Edit<ProfileMemoryHolderTable>().Add(holder);
  }
  return model;
}

RunDiff Compare(const Model& model_a, const Model& model_b) {
  Side a{.model = model_a}, b{.model = model_b};
  a.ranks = b.ranks = {0, 1};
  RunDiff diff;
  DiffMemory(a, b, diff);
  return diff;
}

TEST(DiffMemory, ThePeakThatGrewAndWhatHoldsIt) {
  const RunDiff diff = Compare(WithPeaks(0), WithPeaks(50 * kMB));
  ASSERT_EQ(diff.sections.size(), 2u);
  ASSERT_EQ(diff.sections[0].rows.size(), 1u);
  EXPECT_EQ(diff.sections[0].rows[0].name, "peak of rank 1");
  EXPECT_EQ(diff.sections[0].rows[0].value.difference(), 50 * kMB);
  ASSERT_EQ(diff.sections[1].rows.size(), 1u);
  EXPECT_EQ(diff.sections[1].rows[0].name, "aten::mm");
  ASSERT_EQ(diff.metrics.size(), 1u);
  EXPECT_EQ(diff.metrics[0].name, "memory_peak");
  EXPECT_EQ(diff.metrics[0].value.b, 550 * kMB);
}

TEST(DiffMemory, AHundredthIsChance) {
  EXPECT_TRUE(Compare(WithPeaks(0), WithPeaks(5 * kMB)).sections.empty());
  EXPECT_TRUE(Compare(Model(), WithPeaks(0)).sections.empty());
}

}  // namespace memory_test
}  // namespace debrief::diff
