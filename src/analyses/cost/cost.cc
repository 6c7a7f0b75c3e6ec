// What do ranks lose, to what, and what is to be fixed first?
//
//   division.h     every moment of a rank's steps is in one state: busy or lost to something
//   blame.h        waiting goes back to a rank and what it did instead
//   regions.h      compiled regions: what they cost and what they serve
//   fixes.h        causes by time lost
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/cost/fixes.h"
#include "model/timeline/view.h"
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
#include "tables/what_if_change.h"
#include "tables/what_if_job.h"

namespace debrief::analyses::cost {

namespace {

// Rows of cost_collective: collectives of one kind in one group together.
using Key = std::tuple<int32_t, int32_t, StringId, StringId, ListId, StringId>;

struct Sum {
  int64_t times = 0, bytes = 0, transfer_ns = 0, wait_ns = 0;
  bool has_bytes = true;
  int64_t last_match = kNone64;
  std::map<int32_t, int64_t> by_last, by_blamed;  // by rank
};

void AddWait(const WaitBlame& blame, Sum& sum) {
  sum.transfer_ns += blame.transfer_ns;
  sum.wait_ns += blame.lost_ns;
  if (blame.lost_ns > 0) sum.by_last[blame.last_rank] += blame.lost_ns;
  for (const Blame& each : blame.blames) sum.by_blamed[each.culprit.rank] += each.ns;
}

void SetLargest(const std::map<int32_t, int64_t>& by_rank, int32_t& rank, int64_t& ns) {
  for (const auto& [each, waited] : by_rank) {
    if (ns == kNone64 || waited > ns) rank = each, ns = waited;
  }
}

void AddCollectiveRows(const Model& model, const std::vector<WaitBlame>& blames, Part& part) {
  const auto& matches = model.tables.Get<ProfileCollectiveMatchTable>();
  const auto& waits = model.tables.Get<ProfileCollectiveWaitTable>();
  std::map<Key, Sum> sums;
  for (size_t row = 0; row < blames.size(); ++row) {
    auto match = static_cast<size_t>(waits.match[row]);
    Sum& sum = sums[{matches.job[match], matches.attempt[match], matches.group_name[match],
                     matches.group_desc[match], matches.members[match], matches.op[match]}];
    AddWait(blames[row], sum);
    if (sum.last_match == waits.match[row]) continue;
    sum.last_match = waits.match[row];
    ++sum.times;
    sum.has_bytes = sum.has_bytes && matches.bytes[match] != kNone64;
    if (sum.has_bytes) sum.bytes += matches.bytes[match];
  }
  for (const auto& [key, sum] : sums) {
    const auto& [job, attempt, group_name, group_desc, members, op] = key;
    CostCollectiveRow row;
    row.job = job;
    row.attempt = attempt;
    row.group_name = timeline::Copied(model, group_name, part);
    row.group_desc = timeline::Copied(model, group_desc, part);
    row.members = timeline::Copied(model, members, part);
    row.op = timeline::Copied(model, op, part);
    row.times = sum.times;
    if (sum.has_bytes) row.bytes = sum.bytes;
    row.transfer_ns = sum.transfer_ns;
    row.wait_ns = sum.wait_ns;
    row.exposed_ns = sum.transfer_ns + sum.wait_ns;
    SetLargest(sum.by_last, row.last_rank, row.last_wait_ns);
    SetLargest(sum.by_blamed, row.blamed_rank, row.blamed_wait_ns);
    part.tables.Edit<CostCollectiveTable>().Add(row);
  }
}

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

void AddCaused(const Model& model, const std::vector<WaitBlame>& blames,
               std::map<RankKey, RankSums>& ranks) {
  const auto& waits = model.tables.Get<ProfileCollectiveWaitTable>();
  for (size_t row = 0; row < blames.size(); ++row) {
    for (const Blame& blame : blames[row].blames) {
      auto found = ranks.find({waits.job[row], waits.attempt[row], blame.culprit.rank});
      if (found != ranks.end()) found->second.caused_ns += blame.ns;
    }
  }
}

std::map<RankKey, RankSums> SumRanks(const Model& model, const std::vector<Division>& divisions,
                                     const std::vector<WaitBlame>& blames) {
  std::map<RankKey, RankSums> ranks;
  for (const Division& division : divisions) {
    RankSums& sums = ranks[KeyOf(division.who)];
    sums.by_device = sums.by_device || division.by_device;
    sums.from_steps = sums.from_steps || division.from_steps;
    sums.windows += division.window_count;
    StateTimes times = TimesIn(division);
    for (size_t i = 0; i < kStates; ++i) sums.times.ns[i] += times.ns[i];
  }
  AddCaused(model, blames, ranks);
  return ranks;
}

void AddRankRows(const std::map<RankKey, RankSums>& ranks, Part& part) {
  std::map<JobKey, int64_t> lost;
  for (const auto& [key, sums] : ranks) lost[{key.job, key.attempt}] += sums.times.Lost();
  for (const auto& [key, sums] : ranks) {
    auto row = Part::RowOf<CostRankRow>(
        {.input = kNone32, .job = key.job, .attempt = key.attempt, .rank = key.rank});
    row.windows = sums.windows;
    row.window_source = part.pools.Intern(sums.from_steps ? "step" : "recording");
    row.measured_by = part.pools.Intern(sums.by_device ? "device" : "host");
    row.wall_ns = sums.times.Wall();
    row.busy_ns = sums.times.Busy();
    row.compute_ns = sums.times[State::kCompute];
    row.transfer_ns = sums.times[State::kTransfer];
    row.undivided_ns = sums.times[State::kUndivided];
    row.lost_ns = sums.times.Lost();
    row.wait_ns = sums.times[State::kWait];
    row.compile_ns = sums.times[State::kCompile];
    row.data_ns = sums.times[State::kData];
    row.sync_ns = sums.times[State::kSync];
    row.allocation_ns = sums.times[State::kAllocation];
    row.host_ns = sums.times[State::kHost];
    row.pace_ns = sums.times[State::kPace];
    row.unknown_ns = sums.times[State::kUnknown];
    if (int64_t all = lost[{key.job, key.attempt}]; all > 0)
      row.share = static_cast<double>(row.lost_ns) / static_cast<double>(all);
    row.caused_ns = sums.caused_ns;
    row.region_ns = sums.region_ns;
    row.compiled_gpu_ns = sums.compiled_gpu_ns;
    part.tables.Edit<CostRankTable>().Add(row);
  }
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
  for (auto& [job, fixes] : FindFixes(model, divisions, blames, regions, shared.compiling)) {
    const ReplayedGains gains(model, job.first, job.second);
    SetGains(gains, fixes);
    auto first_row = static_cast<int64_t>(result.part.tables.Get<CostFixTable>().size());
    AddFixRows(model, job, fixes, gains, result.part);
    AddFixFinding(model, job, fixes, gains, ranks, first_row, result.findings);
  }
  AddCompiledShares(ranks, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "cost",
               .sentence = "How much time is lost, to what, and what should be fixed first?",
               .example = "7 ranks wait for rank 6's host: without this, steps would take 125 ms "
                          "instead of 136 ms "
                          "(-8 %)",
               // Profiles or compile logs or both: neither alone is needed.
               .needs = kTableNames<InputTable>,
               .makes =
                   kTableNames<CostRankTable, CostCollectiveTable, CostRegionTable, CostFixTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineStepTable, TimelineLaunchTable,
                                   ProfileCollectiveTable, ProfileCollectiveMatchTable,
                                   ProfileCollectiveWaitTable, CompilePhaseTable, CompileSpanTable,
                                   CompilationTable, CompileRankOnlyTable, WhatIfJobTable,
                                   WhatIfChangeTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::cost
