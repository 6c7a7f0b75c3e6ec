// Which call of a profile is which entry of a dump: shifts, clocks, sequence numbers, schedules.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/join/collectives/shift.h"
#include "analyses/join/collectives/units.h"
#include "tables/compile_collective.h"
#include "unit/analyses/flight/dump_builder.h"

namespace debrief {
namespace join_collectives_test {

using analyses::flight::Dumps;
using namespace analyses::join_collectives;  // NOLINT: what is tested

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;

// Steps of five collectives that follow each other closely; no two steps take equally long, unless
// they are told to. The entry of each is made 20 us into its op.
struct Story {
  explicit Story(int steps, bool regular = false) {
    int64_t now = 1'700'000'000 * kSecond;
    uint32_t noise = 12345;
    for (int step = 0; step < steps; ++step) {
      for (int32_t op : {1, 5, 5, 5, 2}) {
        times.push_back({now, op});
        now += 90'000 + (noise >> 8) % (regular ? 1 : 40'000);
        noise = noise * 1664525 + 1013904223;
      }
      now += 100 * kMs + (regular ? 0 : (noise >> 8) % (30 * kMs));
    }
  }
  // Calls or entries [begin, end).
  std::vector<Call> Calls(size_t begin, size_t end) const {
    std::vector<Call> calls;
    for (size_t i = begin; i < end; ++i)
      calls.push_back({times[i].created_ns, times[i].created_ns + 60'000, times[i].op});
    return calls;
  }
  std::vector<Entry> Entries(size_t begin, size_t end, int64_t shift_ns = 0) const {
    std::vector<Entry> entries;
    for (size_t i = begin; i < end; ++i)
      entries.push_back({times[i].created_ns + 20'000 + shift_ns, times[i].op});
    return entries;
  }
  std::vector<Entry> times;
};

LaneJoin JoinAlone(const Lane& lane) { return JoinLane(lane, FindOffset({&lane, 1})); }

// Entry of each call less its position.
std::vector<int32_t> ShiftsOf(const LaneJoin& join) {
  std::vector<int32_t> shifts;
  for (size_t i = 0; i < join.entry_of.size(); ++i)
    shifts.push_back(join.entry_of[i] < 0 ? -999 : join.entry_of[i] - static_cast<int32_t>(i));
  return shifts;
}

TEST(JoinShift, ProfileBeginsLater) {
  Story story(9);
  LaneJoin join = JoinAlone({story.Calls(15, 35), story.Entries(0, 45)});
  EXPECT_EQ(ShiftsOf(join), std::vector<int32_t>(20, 15));
}

TEST(JoinShift, RingHasWrapped) {
  Story story(9);
  LaneJoin join = JoinAlone({story.Calls(0, 45), story.Entries(12, 45)});
  std::vector<int32_t> expected(45, -12);
  std::fill_n(expected.begin(), 12, -999);
  EXPECT_EQ(ShiftsOf(join), expected);
  EXPECT_EQ(join.refusal[0], Refusal::kBefore);
  EXPECT_EQ(join.refusal[12], Refusal::kNone);
}

// Entries that the profile does not show, and a call that the dump does not have.
TEST(JoinShift, ForeignOpsBetween) {
  Story story(9);
  Lane lane{story.Calls(0, 45), story.Entries(0, 45)};
  lane.entries.erase(lane.entries.begin() + 30);
  lane.calls.erase(lane.calls.begin() + 11, lane.calls.begin() + 13);
  LaneJoin join = JoinAlone(lane);
  std::vector<int32_t> expected(43, 2);
  std::fill_n(expected.begin(), 11, 0);
  std::fill(expected.begin() + 28, expected.end(), 1);
  expected[28] = -999;  // its entry is gone
  EXPECT_EQ(ShiftsOf(join), expected);
  EXPECT_NE(join.refusal[28], Refusal::kNone);
}

TEST(JoinShift, NoCommonTime) {
  Story story(20);
  LaneJoin early = JoinAlone({story.Calls(0, 40), story.Entries(60, 100)});
  LaneJoin late = JoinAlone({story.Calls(60, 100), story.Entries(0, 40)});
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(early.entry_of[i], -1);
    EXPECT_EQ(early.refusal[i], Refusal::kBefore);
    EXPECT_EQ(late.entry_of[i], -1);
    EXPECT_EQ(late.refusal[i], Refusal::kAfter);
  }
}

TEST(JoinShift, ClockIsThreeSecondsOff) {
  Story story(40);
  for (int64_t shift : {3 * kSecond, -3 * kSecond, 777 * kMs, 400'000L * kSecond}) {
    Lane lane{story.Calls(50, 110), story.Entries(7, 200, shift)};
    Offset offset = FindOffset({&lane, 1});
    ASSERT_EQ(offset.state, Offset::State::kShifted);
    EXPECT_LE(std::abs(offset.offset_ns - shift), 60'000);
    EXPECT_EQ(ShiftsOf(JoinLane(lane, offset)), std::vector<int32_t>(60, 43));
  }
}

// Every step is like the next: order fits everywhere, so nothing is said.
TEST(JoinShift, RegularStepsAndAnotherClockTellNothing) {
  Story story(40, true);
  Lane lane{story.Calls(50, 110), story.Entries(0, 200, 37 * kMs)};
  LaneJoin join = JoinAlone(lane);
  EXPECT_EQ(ShiftsOf(join), std::vector<int32_t>(60, -999));
  EXPECT_EQ(join.refusal[30], Refusal::kNoClock);
  // On one clock the time tells.
  EXPECT_EQ(ShiftsOf(JoinAlone({story.Calls(50, 110), story.Entries(0, 200)})),
            std::vector<int32_t>(60, 50));
}

// A second group tells the clock for one that has too few calls itself.
TEST(JoinShift, GroupsShareTheClock) {
  Story story(20);
  std::vector<Lane> lanes{{story.Calls(20, 60), story.Entries(0, 100, 5 * kSecond)},
                          {story.Calls(30, 31), story.Entries(25, 40, 5 * kSecond)}};
  Offset offset = FindOffset(lanes);
  EXPECT_EQ(ShiftsOf(JoinLane(lanes[1], offset)), std::vector<int32_t>{5});
}

// Only kernels are there: they start some time after the entry was made.
TEST(JoinShift, KernelsWithoutOps) {
  Story story(9);
  Lane lane{story.Calls(5, 40), story.Entries(0, 45)};
  for (size_t i = 0; i < lane.calls.size(); ++i) {
    lane.calls[i].start_ns += 300'000 + static_cast<int64_t>(i % 5) * 10'000;
    lane.calls[i].end_ns = kNone64;
  }
  EXPECT_EQ(ShiftsOf(JoinAlone(lane)), std::vector<int32_t>(35, 5));
}

TEST(JoinShift, Nothing) {
  EXPECT_TRUE(JoinAlone({}).entry_of.empty());
  Story story(1);
  LaneJoin join = JoinAlone({story.Calls(0, 2), {}});
  EXPECT_EQ(join.refusal, std::vector<Refusal>(2, Refusal::kNoEntries));
}

TEST(JoinShift, CommonPoint) {
  CommonPoint common = FindCommonPoint(std::vector<Bound>{{5, 9}, {8, 20}, {-3, 8}, {30, 40}});
  EXPECT_EQ(common.at, 8);
  EXPECT_EQ(common.bounds, 3u);
  EXPECT_EQ(FindCommonPoint(std::vector<Bound>{{-3, 8}}).at, 0);
  EXPECT_EQ(FindCommonPoint({}).bounds, 0u);
}

TEST(JoinUnits, ABatchIsOne) {
  Dumps dumps;
  dumps.Group("1", "mesh_pp", {0, 4}).Group("2", "mesh_dp", {0, 2});
  auto rank = dumps.Rank(0);
  rank.Send(1).P2pSeq(1);
  rank.Receive(1).P2pSeq(1);
  rank.EndBatch().P2pSeq(1);
  rank.In("2").Op("all_reduce");
  rank.Op("all_gather");
  rank.Inner("all_gather");
  rank.Inner("ALLGATHER_coalesced");
  rank.In("1").Send(1).P2pSeq(2);
  rank.Send(1).P2pSeq(3);
  const Model& model = dumps.Finish();
  UnitsByGroup units = UnitsOf(model, {0, model.tables.Get<CommOpTable>().size()});
  auto rows_of = [&](std::string_view group) {
    std::vector<size_t> rows;
    for (const auto& [name, of_group] : units) {
      if (model.pools.Text(name) != group) continue;
      for (const Unit& unit : of_group) rows.push_back(unit.row);
    }
    return rows;
  };
  EXPECT_EQ(rows_of("1"), (std::vector<size_t>{0, 7, 8}));
  EXPECT_EQ(rows_of("2"), (std::vector<size_t>{3, 4}));
}

TEST(JoinUnits, OpsOfOneKernelAreOneKind) {
  EXPECT_EQ(OpClassOf("all_reduce_barrier"), OpClassOf("barrier"));
  EXPECT_EQ(OpClassOf("_reduce_scatter_base"), OpClassOf("reduce_scatter"));
  EXPECT_EQ(OpClassOf("all_to_all"), OpClassOf("send_recv"));
  EXPECT_NE(OpClassOf("all_gather"), OpClassOf("all_reduce"));
  EXPECT_NE(OpClassOf("reduce_scatter"), OpClassOf("reduce"));
  EXPECT_EQ(OpClassOf("coalesced"), 0);
}

void AddScheduled(Model& model, int64_t entry, const std::vector<std::string_view>& ops) {
  int32_t position = 0;
  for (std::string_view op : ops) {
    auto row = Part::RowOf<CompileCollectiveRow>({0, 0, 0, 0});
    row.input = 0;
    row.entry = entry;
    row.compile_id = model.pools.Intern("1/0");
    row.op = model.pools.Intern(op);
    row.position = position++;
    model.tables.Edit<CompileCollectiveTable>().Add(row);
  }
}

TEST(JoinSchedule, TheScheduleWithTheseOps) {
  Model model;
  AddScheduled(model, 100,
               {"torch.ops._c10d_functional.all_gather_into_tensor.default",
                "torch.ops._c10d_functional.wait_tensor.default",
                "torch.ops._c10d_functional.all_reduce_.default"});
  AddScheduled(model, 200, {"torch.ops._c10d_functional.reduce_scatter_tensor.default"});
  Schedules schedules(model);
  CompiledCall gather{.op = OpClassOf("all_gather")};
  CompiledCall reduce{.op = OpClassOf("all_reduce")};
  std::vector<CompiledCall*> calls{&gather, &reduce};
  schedules.Place({0, 0, 0, 0}, model.pools.Intern("1/0"), calls);
  EXPECT_EQ(gather.entry, 100);
  EXPECT_EQ(gather.position, 0);
  EXPECT_EQ(reduce.position, 2);
  CompiledCall other{.op = OpClassOf("all_gather")};
  calls = {&other};
  schedules.Place({0, 0, 0, 0}, model.pools.Intern("1/0"), calls);
  EXPECT_EQ(other.reason, "no schedule of this compilation has these ops");
  schedules.Place({0, 0, 0, 3}, model.pools.Intern("1/0"), calls);
  EXPECT_EQ(other.reason, "the compile log has no schedule of this compilation");
}

}  // namespace join_collectives_test
}  // namespace debrief
