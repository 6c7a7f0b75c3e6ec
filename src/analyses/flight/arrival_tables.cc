#include <algorithm>

#include "analyses/flight/arrivals.h"
#include "analyses/flight/cause.h"
#include "analyses/flight/match_tables.h"
#include "tables/comm_arrival.h"
#include "tables/comm_traffic.h"

namespace debrief::analyses::flight {

namespace {

void AddRank(const Index& index, const Arrivals& arrivals, size_t rank, CommArrivalTable& table) {
  const RankArrival& arrival = arrivals.ranks[rank];
  CommArrivalRow row;
  row.job = index.job;
  row.attempt = index.attempt;
  row.rank = index.ranks[rank].rank;
  row.clock_offset_ns = arrivals.clocks[rank].offset_ns;
  row.offset_spread_ns = arrivals.clocks[rank].spread_ns;
  row.clock_correction_ns = arrivals.clocks[rank].correction_ns();
  row.times_last = arrival.times_last;
  row.late_total_ns = arrival.total_ns;
  row.late_longest_ns = arrival.longest.front().late_ns;
  row.late_third_ns = arrival.longest.back().late_ns;
  table.Add(row);
}

void AddTraffic(const Index& index, const Traffic& traffic, Part& part) {
  const Group& group = index.groups[static_cast<size_t>(traffic.group)];
  auto copy = [&](StringId id) {
    return id == StringId::kNone ? StringId::kNone : part.pools.Intern(index.Text(id));
  };
  CommTrafficRow row;
  row.job = index.job;
  row.attempt = index.attempt;
  row.group_name = copy(group.name);
  row.group_desc = copy(group.description);
  std::string_view role = RoleOf(index, group);
  if (!role.empty()) row.role = part.pools.Intern(role);
  std::vector<int32_t> ranks = GlobalRanks(index, group.members);
  row.members = part.pools.lists.Intern(std::vector<int64_t>(ranks.begin(), ranks.end()));
  row.op = copy(traffic.op);
  row.count = traffic.count;
  row.input_bytes = traffic.input_bytes;
  row.output_bytes = traffic.output_bytes;
  row.slowest_ns = traffic.slowest_ns;
  if (traffic.slowest_seq != kNone32) row.slowest_seq = traffic.slowest_seq;
  row.median_ns = traffic.median_ns;
  row.median_spread_ns = traffic.median_spread_ns;
  row.longest_spread_ns = traffic.longest_spread_ns;
  part.tables.Edit<CommTrafficTable>().Add(row);
}

}  // namespace

void FillArrivalTables(const Index& index, const Arrivals& arrivals, Part& part) {
  auto& table = part.tables.Edit<CommArrivalTable>();
  for (size_t rank = 0; rank < index.ranks.size(); ++rank) {
    if (index.ranks[rank].has_dump) AddRank(index, arrivals, rank, table);
  }
  for (const Traffic& traffic : arrivals.traffic) AddTraffic(index, traffic, part);
}

}  // namespace debrief::analyses::flight
