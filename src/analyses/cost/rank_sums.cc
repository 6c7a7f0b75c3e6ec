#include "analyses/cost/rank_sums.h"

#include "tables/cost_rank.h"
#include "tables/profile_collective_wait.h"

namespace debrief::analyses::cost {

namespace {

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

}  // namespace

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

std::map<JobKey, int64_t> LostOfJobs(const std::map<RankKey, RankSums>& ranks) {
  std::map<JobKey, int64_t> lost;
  for (const auto& [key, sums] : ranks) lost[{key.job, key.attempt}] += sums.times.Lost();
  return lost;
}

void AddRankRows(const std::map<RankKey, RankSums>& ranks, Part& part) {
  std::map<JobKey, int64_t> lost = LostOfJobs(ranks);
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

}  // namespace debrief::analyses::cost
