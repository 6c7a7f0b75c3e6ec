// What replays and roofs of two runs say of a change of their steps.
#include <gtest/gtest.h>

#include "diff/run_diff.h"
#include "tables/profile_roofline.h"
#include "tables/timeline_step.h"
#include "tables/what_if_change.h"
#include "tables/what_if_job.h"

namespace debrief::diff {
namespace parts_test {

constexpr int64_t kPartMs = 1'000'000;

struct PartRun {
  Model model;

  void AddReplay(int64_t step_ns) {
    WhatIfJobRow row;
    row.job = row.attempt = 0;
    row.source = model.pools.Intern("profiles");
    row.replayed_ns = step_ns;
    model.tables.Edit<WhatIfJobTable>().Add(row);
  }
  void AddGain(std::string_view kind, std::string_view name, int32_t rank, int64_t gain_ns) {
    WhatIfChangeRow row;
    row.job = row.attempt = 0;
    row.kind = model.pools.Intern(kind);
    row.name = model.pools.Intern(name);
    row.worker_rank = rank;
    row.gain_ns = gain_ns;
    model.tables.Edit<WhatIfChangeTable>().Add(row);
  }
  // `busy_ns` of two steps on each of four ranks, a millisecond apart.
  void AddRoof(std::string_view op, int64_t busy_ns, int64_t roof_ns) {
    for (int32_t rank = 0; rank < 4; ++rank) {
      const Identity who = {.input = rank, .job = 0, .attempt = 0, .rank = rank};
      for (int step = 0; step < 2; ++step)
        model.tables.Edit<TimelineStepTable>().Add(Part::RowOf<TimelineStepRow>(who));
      auto row = Part::RowOf<ProfileRooflineRow>(who);
      row.definition = model.pools.Intern("debrief");
      row.op = model.pools.Intern(op);
      row.shapes = model.pools.Intern("[[8,8],[8,8]]");
      row.count = 2;
      row.busy_ns = busy_ns + rank * 1000;
      row.roof_ns = roof_ns / 2;
      model.tables.Edit<ProfileRooflineTable>().Add(row);
    }
  }
};

RunDiff ComparedParts(const PartRun& a, const PartRun& b, int64_t noise) {
  Side side_a{.model = a.model}, side_b{.model = b.model};
  side_a.ranks = side_b.ranks = {0, 1, 2, 3};
  RunDiff diff;
  diff.steps.emplace();
  diff.steps->job.total = {100 * kPartMs, 150 * kPartMs, noise, true};
  DiffRoofs(side_a, side_b, diff);
  DiffReplays(side_a, side_b, diff);
  return diff;
}

TEST(DiffReplays, ANewStragglerIsNamedWithItsCost) {
  PartRun a, b;
  a.AddReplay(100 * kPartMs);
  b.AddReplay(150 * kPartMs);
  a.AddGain("rank", "rank 2", 2, 0);
  b.AddGain("rank", "rank 2", 2, 48 * kPartMs);
  b.AddGain("rank", "rank 3", 3, kPartMs);
  b.AddGain("link", "links twice as fast", kNone32, 40 * kPartMs);
  const RunDiff diff = ComparedParts(a, b, 5 * kPartMs);
  ASSERT_EQ(diff.sections.size(), 1u);
  EXPECT_EQ(diff.sections[0].id, "replays");
  ASSERT_EQ(diff.sections[0].rows.size(), 1u);
  EXPECT_EQ(diff.sections[0].rows[0].ranks, std::vector<int32_t>{2});
  EXPECT_EQ(diff.sections[0].rows[0].value.difference(), 48 * kPartMs);
}

TEST(DiffReplays, WhatTheNoiseOfStepsCoversIsNotTold) {
  PartRun a, b;
  a.AddReplay(100 * kPartMs);
  b.AddReplay(110 * kPartMs);
  a.AddGain("rank", "rank 2", 2, 0);
  b.AddGain("rank", "rank 2", 2, 8 * kPartMs);
  EXPECT_TRUE(ComparedParts(a, b, 20 * kPartMs).sections.empty());
  EXPECT_TRUE(ComparedParts(a, b, kNone64).sections.empty());
}

TEST(DiffRoofs, TimeBeyondTheRoofByOpAndShapes) {
  PartRun a, b;
  a.AddRoof("aten::mm", 20 * kPartMs, 16 * kPartMs);
  b.AddRoof("aten::mm", 40 * kPartMs, 16 * kPartMs);
  a.AddRoof("aten::add", 2 * kPartMs, kPartMs);
  b.AddRoof("aten::add", 2 * kPartMs, kPartMs);
  const RunDiff diff = ComparedParts(a, b, kPartMs);
  ASSERT_EQ(diff.sections.size(), 1u);
  EXPECT_EQ(diff.sections[0].id, "roofs");
  ASSERT_EQ(diff.sections[0].rows.size(), 1u);
  const Row& row = diff.sections[0].rows[0];
  EXPECT_EQ(row.name, "aten::mm [[8,8],[8,8]]");
  EXPECT_EQ(row.note, "80 % -> 40 % of the roof");
  EXPECT_GT(row.value.difference(), 0);
}

}  // namespace parts_test
}  // namespace debrief::diff
