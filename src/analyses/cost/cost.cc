// What do ranks lose, to what, and what is to be fixed first?
//
//   division.h     every moment of a rank's steps is in one state: busy or lost to something
//   blame.h        waiting goes back to a rank and what it did instead
//   regions.h      compiled regions: what they cost and what they serve
//   fixes.h        causes by time lost
#include <algorithm>
#include <set>

#include "analyses/analysis.h"
#include "analyses/cost/collectives.h"
#include "analyses/cost/findings.h"
#include "tables/compilation.h"
#include "tables/compile_phase.h"
#include "tables/compile_rank_only.h"
#include "tables/compile_span.h"
#include "tables/cost_collective.h"
#include "tables/cost_fix.h"
#include "tables/cost_rank.h"
#include "tables/cost_region.h"
#include "tables/input.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"
#include "tables/timeline.h"
#include "tables/timeline_clock.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::cost {

namespace {

// Profiles or compile logs or both: neither alone is needed.
constexpr auto kNeeds = kTableNames<InputTable>;
constexpr auto kUses =
    kTableNames<TimelineTable, TimelineSliceTable, TimelineStepTable, TimelineLaunchTable,
                ProfileCollectiveTable, ProfileCollectiveMatchTable, ProfileCollectiveWaitTable,
                CompilePhaseTable, CompileSpanTable, CompilationTable, TimelineClockTable,
                CompileRankOnlyTable>;
constexpr auto kMakes =
    kTableNames<CostRankTable, CostCollectiveTable, CostRegionTable, CostFixTable>;

bool ShowsDevices(const timeline::TimelineView& view) {
  return std::any_of(view.kind.begin(), view.kind.end(),
                     [&](StringId kind) { return view.kinds.IsWork(kind); });
}

// Jobs in which some timeline shows work on a device. In others (what a program recorded of its
// host alone) a device that is not seen would be taken for idle.
std::set<int32_t> JobsWithDevices(const Model& model) {
  std::set<int32_t> jobs;
  for (const timeline::TimelineView& view : timeline::Timelines(model)) {
    if (!jobs.contains(view.who.job) && ShowsDevices(view)) jobs.insert(view.who.job);
  }
  return jobs;
}

// A rank may have left several files of the same time: each moment counts once.
std::vector<Division> DivideAll(const Model& model, Shared& shared) {
  std::vector<Division> divisions;
  std::map<RankKey, IntervalSet> seen;
  const std::set<int32_t> jobs = JobsWithDevices(model);
  for (const timeline::TimelineView& view : timeline::Timelines(model)) {
    if (!jobs.contains(view.who.job)) continue;
    Division division = Divide(view, shared);
    if (division.segments.empty()) continue;
    if (view.who.rank != kNone32) {
      IntervalSet& before = seen[KeyOf(view.who)];
      division.windows = Subtract(division.windows, before);
      before = Union(before, division.windows);
    }
    divisions.push_back(std::move(division));
  }
  return divisions;
}

Status Run(const Model& model, AnalysisResult& result) {
  Shared shared(model);
  const std::vector<Division> divisions = DivideAll(model, shared);
  const std::vector<WaitBlame> blames = FindBlame(model, divisions);
  std::map<RankKey, RegionTime> region_times;
  const Regions regions = FindRegions(model, divisions, region_times);
  std::map<RankKey, RankSums> ranks = SumRanks(model, divisions, blames);
  for (auto& [key, sums] : ranks) {
    sums.region_ns = region_times[key].region_ns;
    sums.compiled_gpu_ns = region_times[key].gpu_ns;
  }
  AddRankRows(ranks, result.part);
  AddCollectiveRows(model, blames, result.part);
  AddRegionRows(regions, result.part);
  for (const auto& [job, fixes] : FindFixes(model, divisions, blames, regions, shared.compiling)) {
    auto first_row = static_cast<int64_t>(result.part.tables.Get<CostFixTable>().size());
    AddFixRows(model, job, fixes, result.part);
    AddFixFinding(model, job, fixes, ranks, first_row, result.findings);
  }
  AddCompiledShares(ranks, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "cost",
               .sentence = "How much time is lost, to what, and what should be fixed first?",
               .example = "Fix this first: rank 6's host makes 7 ranks wait: 2.10 s of 2.60 s lost "
                          "(81 %)",
               .needs = kNeeds,
               .makes = kMakes,
               .uses = kUses},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::cost
