// Compiled things of a timeline and their compilations; clocks of hosts.
#include "analyses/join/regions/regions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyses/join/clocks/host_clocks.h"
#include "tables/comm_arrival.h"
#include "tables/compilation.h"
#include "tables/compile_life.h"
#include "tables/join_clock.h"
#include "tables/region_join.h"
#include "tables/timeline.h"
#include "tables/timeline_clock.h"
#include "unit/analyses/profile/fixture.h"
#include "unit/model/timeline_fixture.h"

namespace debrief {
namespace join_regions_test {

using analyses::join_clocks::HostClocks;
using analyses::join_regions::Region;
using analyses::join_regions::RegionsOf;
using analyses::join_regions::StemOf;

// A region with a graph in it that launches two kernels; the device repeats the annotation.
Model OneRegion() {
  TimelineFixture timeline;
  int32_t thread = timeline.AddThread();
  int32_t stream = timeline.AddStream(7);
  timeline.AddSlice(thread, {"Torch-Compiled Region: 3/1", timeline::kOp, 0, 100});
  timeline.AddSlice(thread, {"## Call CompiledFxGraph fkey ##", timeline::kAnnotation, 10, 80});
  timeline.AddSlice(thread, {"cudaLaunchKernel", timeline::kRuntime, 20, 5, 1});
  timeline.AddSlice(thread, {"cudaLaunchKernel", timeline::kRuntime, 30, 5, 2});
  timeline.AddSlice(stream, {"a", timeline::kKernel, 40, 7, 1});
  timeline.AddSlice(stream, {"b", timeline::kKernel, 50, 9, 2});
  Model model = timeline.Build();
  LinkByCorrelation(model);
  auto& launches = model.tables.Edit<TimelineLaunchTable>();
  for (StringId& id : launches.compile_id) id = model.pools.Intern("3/1");
  return model;
}

TEST(JoinRegions, CallsAndKernels) {
  Model model = OneRegion();
  std::vector<Region> regions = RegionsOf(timeline::Timelines(model)[0]);
  ASSERT_EQ(regions.size(), 2u);
  for (const Region& region : regions) {
    EXPECT_EQ(region.calls, 1);
    EXPECT_EQ(region.kernels, 2);
    EXPECT_EQ(region.device_ns, 16);
    EXPECT_EQ(model.pools.Text(region.launched_by), "3/1");
  }
  EXPECT_EQ(regions[0].name, "3/1");
  EXPECT_EQ(regions[0].host_ns, 100);
  EXPECT_EQ(regions[1].name, "fkey");
  EXPECT_EQ(regions[1].host_ns, 80);
}

// "kind how compile_id entry reason" of every row.
std::vector<std::string> JoinedRows(Model& model) {
  auto all = AllAnalyses();
  auto found = std::find_if(all.begin(), all.end(),
                            [](const Analysis* each) { return each->info.name == "join_regions"; });
  RunAnalysis(**found, model);
  const auto& rows = model.tables.Get<RegionJoinTable>();
  std::vector<std::string> lines;
  for (size_t i = 0; i < rows.size(); ++i) {
    lines.push_back(fmt::format("{} {} {} {} {}", model.pools.Text(rows.kind[i]),
                                model.pools.Text(rows.how[i]), model.pools.Text(rows.compile_id[i]),
                                rows.entry[i] == kNone64 ? -1 : rows.entry[i],
                                model.pools.Text(rows.reason[i])));
  }
  return lines;
}

void AddCompilation(Model& model, std::string_view id, int64_t start_ns, int64_t entry) {
  auto row = Part::RowOf<CompilationRow>({0, 0, 0, 0});
  row.input = 1;
  row.compile_id = model.pools.Intern(id);
  row.start_ns = start_ns;
  row.first_entry = entry;
  model.tables.Edit<CompilationTable>().Add(row);
}

TEST(JoinRegions, WithoutALog) {
  Model model = OneRegion();
  EXPECT_EQ(JoinedRows(model),
            (std::vector<std::string>{"region name 3/1 -1 no compile log of this rank",
                                      "graph nesting 3/1 -1 no compile log of this rank"}));
}

// Of two lives of the process the one before the region; the graph by what is around it.
TEST(JoinRegions, TheLifeBefore) {
  Model model = OneRegion();
  model.tables.Edit<CompileLifeTable>().Add(Part::RowOf<CompileLifeRow>({1, 0, 0, 0}));
  AddCompilation(model, "3/1", -50, 1000);
  AddCompilation(model, "3/1", 500, 2000);
  EXPECT_EQ(JoinedRows(model),
            (std::vector<std::string>{"region name 3/1 1000 ", "graph nesting 3/1 1000 "}));
}

TEST(JoinRegions, TheLogHasOthers) {
  Model model = OneRegion();
  model.tables.Edit<CompileLifeTable>().Add(Part::RowOf<CompileLifeRow>({1, 0, 0, 0}));
  AddCompilation(model, "4/0", -50, 1000);
  for (const std::string& line : JoinedRows(model))
    EXPECT_NE(line.find("the compile log has no such compilation"), std::string::npos) << line;
}

TEST(JoinRegions, Stems) {
  EXPECT_EQ(StemOf("/tmp/torchinductor_me/oo/cooep.py"), "cooep");
  EXPECT_EQ(StemOf("cooep"), "cooep");
  EXPECT_EQ(StemOf(""), "");
}

struct Clocks {
  void Profile(int32_t rank, int64_t offset_ns, std::string_view state, bool wall = true) {
    auto timeline = Part::RowOf<TimelineRow>({rank, 0, 0, rank});
    timeline.input = rank;
    if (wall) timeline.base_ns = 1;
    model.tables.Edit<TimelineTable>().Add(timeline);
    auto clock = Part::RowOf<TimelineClockRow>({rank, 0, 0, rank});
    clock.input = rank;
    clock.offset_ns = offset_ns;
    clock.reference = rank == 0;
    clock.state = model.pools.Intern(state);
    model.tables.Edit<TimelineClockTable>().Add(clock);
  }
  void Join(int32_t rank, int64_t dump_ahead_ns) {
    auto join = Part::RowOf<JoinClockRow>({rank, 0, 0, rank});
    join.input = rank;
    join.offset_ns = dump_ahead_ns;
    model.tables.Edit<JoinClockTable>().Add(join);
  }
  void Dump(int32_t rank, int64_t correction_ns) {
    auto arrival = Part::RowOf<CommArrivalRow>({rank, 0, 0, rank});
    arrival.clock_correction_ns = correction_ns;
    model.tables.Edit<CommArrivalTable>().Add(arrival);
  }
  Model model;
};

// Rank 1's dump is 30 ahead of its profile, which is 5 behind; rank 2 has a dump only.
TEST(JoinClocks, BestSourceFirst) {
  Clocks clocks;
  clocks.Profile(0, 0, "aligned");
  clocks.Join(0, 0);
  clocks.Dump(0, -10);
  clocks.Profile(1, 5, "aligned");
  clocks.Join(1, 30);
  clocks.Dump(1, 15);
  clocks.Dump(2, 40);
  HostClocks hosts(clocks.model);
  EXPECT_EQ(hosts.HostOf({0, 0, 0}).offset_ns, 0);
  EXPECT_EQ(hosts.HostOf({0, 0, 1}).offset_ns, -25);
  EXPECT_EQ(hosts.HostOf({0, 0, 1}).how, "joined");
  EXPECT_EQ(hosts.HostOf({0, 0, 2}).offset_ns, -50);  // base -10
  EXPECT_EQ(hosts.HostOf({0, 0, 2}).how, "collectives");
  EXPECT_EQ(hosts.HostOf({0, 0, 3}).how, "assumed");
}

TEST(JoinClocks, ProfilesThatNothingAligns) {
  Clocks clocks;
  clocks.Profile(0, 0, "unaligned", false);  // counts from elsewhere
  clocks.Profile(1, 0, "unaligned");
  clocks.Profile(2, 0, "unaligned", false);
  clocks.Join(2, 700);
  clocks.Dump(1, 40);
  clocks.Dump(2, 60);
  HostClocks hosts(clocks.model);
  EXPECT_EQ(hosts.profiles()[0].placed.offset_ns, kNone64);
  EXPECT_EQ(hosts.profiles()[1].placed.offset_ns, -40);
  EXPECT_EQ(hosts.profiles()[2].placed.offset_ns, 640);
  EXPECT_EQ(hosts.profiles()[2].placed.how, "joined");
}

// Profiles agree with each other, but not on what time of day it is.
TEST(JoinClocks, ProfilesApartFromTheDumps) {
  Clocks clocks;
  clocks.Profile(0, 0, "aligned", false);
  clocks.Profile(1, 5, "aligned", false);
  clocks.Dump(1, 40);
  HostClocks hosts(clocks.model);
  EXPECT_EQ(hosts.profiles()[1].placed.offset_ns, 5);
  EXPECT_EQ(hosts.HostOf({0, 0, 1}).offset_ns, kNone64);
}

}  // namespace join_regions_test
}  // namespace debrief
