#include "analyses/cost/collectives.h"

#include <map>
#include <tuple>

#include "tables/cost_collective.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"

namespace debrief::analyses::cost {

namespace {

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

StringId Copied(const Model& model, StringId id, Part& part) {
  return id == StringId::kNone ? id : part.pools.Intern(model.pools.Text(id));
}

}  // namespace

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
    row.group_name = Copied(model, group_name, part);
    row.group_desc = Copied(model, group_desc, part);
    if (members != ListId::kNone)
      row.members = part.pools.lists.Intern(model.pools.lists.Get(members));
    row.op = Copied(model, op, part);
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

}  // namespace debrief::analyses::cost
