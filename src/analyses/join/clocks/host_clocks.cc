#include "analyses/join/clocks/host_clocks.h"

#include <algorithm>

#include "model/timeline/view.h"
#include "tables/comm_arrival.h"
#include "tables/join_clock.h"
#include "tables/timeline.h"
#include "tables/timeline_clock.h"

namespace debrief::analyses::join_clocks {

namespace {

int64_t Median(std::vector<int64_t> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Row of the input in a table that has one for each, or none.
template <typename Table>
size_t RowOrEnd(const Table& table, int32_t input) {
  timeline::RowRange rows = timeline::RowsOf(table, input);
  return rows.size() == 0 ? table.size() : rows.begin;
}

}  // namespace

HostClocks::HostClocks(const Model& model) {
  ReadProfiles(model);
  ReadDumps(model);
  PlaceHosts();
  PlaceProfiles();
}

void HostClocks::ReadProfiles(const Model& model) {
  const auto& timelines = model.tables.Get<TimelineTable>();
  const auto& clocks = model.tables.Get<TimelineClockTable>();
  const auto& joins = model.tables.Get<JoinClockTable>();
  for (size_t row = 0; row < timelines.size(); ++row) {
    ProfileClock profile;
    profile.rank = {timelines.job[row], timelines.attempt[row], timelines.rank[row]};
    profile.input = timelines.input[row];
    profile.wall = timelines.base_ns[row] != kNone64;
    size_t join = RowOrEnd(joins, profile.input);
    if (join < joins.size()) profile.to_dump_ns = joins.offset_ns[join];
    size_t clock = RowOrEnd(clocks, profile.input);
    if (clock < clocks.size() && model.pools.Text(clocks.state[clock]) == "aligned") {
      profile.placed = {clocks.offset_ns[clock],
                        clocks.reference[clock] != 0 ? "reference" : "collectives",
                        clocks.residual_ns[clock]};
    }
    profiles_.push_back(profile);
  }
}

void HostClocks::ReadDumps(const Model& model) {
  const auto& arrivals = model.tables.Get<CommArrivalTable>();
  for (size_t row = 0; row < arrivals.size(); ++row) {
    RankKey rank{arrivals.job[row], arrivals.attempt[row], arrivals.rank[row]};
    corrections_[rank] = arrivals.clock_correction_ns[row];
    spreads_[rank] = arrivals.offset_spread_ns[row];
  }
}

void HostClocks::PlaceHosts() {
  for (const ProfileClock& profile : profiles_) {
    if (profile.placed.offset_ns == kNone64) continue;
    apart_.insert(JobOf(profile.rank));
    if (profile.to_dump_ns != kNone64) {
      hosts_.try_emplace(profile.rank, Placed{profile.placed.offset_ns - profile.to_dump_ns,
                                              "joined", profile.placed.residual_ns});
    } else if (profile.wall) {
      hosts_.try_emplace(profile.rank, Placed{profile.placed.offset_ns, "host", kNone64});
    }
  }
  std::map<JobKey, std::vector<int64_t>> bases;
  for (const auto& [rank, host] : hosts_) {
    apart_.erase(JobOf(rank));
    auto correction = corrections_.find(rank);
    if (correction == corrections_.end() || correction->second == kNone64) continue;
    bases[JobOf(rank)].push_back(host.offset_ns + correction->second);
  }
  for (const auto& [rank, correction] : corrections_) {
    if (correction == kNone64 || apart_.contains(JobOf(rank))) continue;
    auto base = bases.find(JobOf(rank));
    int64_t base_ns = base == bases.end() ? 0 : Median(base->second);
    hosts_.try_emplace(rank, Placed{base_ns - correction, "collectives", spreads_[rank]});
  }
}

// A profile that shares no collective with others is placed by the dump of its rank or its host.
void HostClocks::PlaceProfiles() {
  for (ProfileClock& profile : profiles_) {
    if (profile.placed.offset_ns != kNone64) continue;
    Placed host = HostOf(profile.rank);
    if (host.offset_ns == kNone64) continue;
    if (profile.to_dump_ns != kNone64) {
      profile.placed = {host.offset_ns + profile.to_dump_ns, "joined", kNone64};
    } else if (profile.wall) {
      profile.placed = {host.offset_ns, host.how == "assumed" ? "assumed" : "host", kNone64};
    }
  }
}

Placed HostClocks::HostOf(const RankKey& rank) const {
  if (apart_.contains(JobOf(rank))) return {};
  auto found = hosts_.find(rank);
  return found == hosts_.end() ? Placed{0, "assumed", kNone64} : found->second;
}

}  // namespace debrief::analyses::join_clocks
