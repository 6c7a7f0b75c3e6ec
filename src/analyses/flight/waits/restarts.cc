// A rank whose process is not the one that its peers began with: its dump begins with record 0, and
// it issued its first collective of a group long after its peers had completed later ones, which
// they cannot have done without it. A launcher started it again, and the others wait for a process
// that is gone.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/flight/cause.h"
#include "analyses/flight/row_runs.h"
#include "analyses/flight/words.h"

namespace debrief::analyses::flight {

namespace {

constexpr int64_t kLongAfter = 30'000'000'000;  // more than clocks of hosts that are kept differ

// The newest collective of the group that a peer completed and that needs all members.
const Unit* NewestOfAll(const Index& index, const Group& group) {
  for (auto row = group.rows.rbegin(); row != group.rows.rend(); ++row) {
    for (int32_t at : index.UnitsOf(group, *row)) {
      const Unit& unit = index.UnitAt(at);
      if (unit.completed() && NeedsAll(index.OpName(unit))) return &unit;
    }
  }
  return nullptr;
}

const Unit* FirstOf(const Index& index, const Group& group, int32_t rank) {
  for (const Unit& unit : index.UnitsOf(rank)) {
    if (&index.GroupOf(unit) == &group && !unit.p2p) return &unit;
  }
  return nullptr;
}

// Its first unit of the group, where it began anew; else null.
const Unit* BeganAnew(const Index& index, const Group& group, size_t member, const Unit& newest) {
  const int32_t rank = group.members[member];
  const RankInfo& info = index.RankAt(rank);
  const bool all_known = info.has_dump && info.whole && info.from_start;
  if (!all_known || rank == newest.rank || group.windows[member].last >= newest.seq) return nullptr;
  const Unit* first = FirstOf(index, group, rank);
  const int64_t then = index.ops.created_ns[newest.row];
  int64_t after = 0;
  const bool told =
      first != nullptr && then != kNone64 && index.ops.created_ns[first->row] != kNone64;
  const bool late = told &&
                    !__builtin_sub_overflow(index.ops.created_ns[first->row], then, &after) &&
                    after > kLongAfter;
  return late ? first : nullptr;
}

}  // namespace

void FindRestarts(const Index& index, std::vector<Cause>& causes) {
  Cause cause;
  const Unit* reached = nullptr;
  for (const Group& group : index.groups) {
    const Unit* newest = group.counted ? nullptr : NewestOfAll(index, group);
    if (newest == nullptr) continue;
    size_t anew = 0;
    for (size_t member = 0; member < group.members.size(); ++member) {
      const Unit* first = BeganAnew(index, group, member, *newest);
      const int32_t rank = group.members[member];
      if (first == nullptr || ++anew * 2 > group.members.size()) continue;
      if (std::ranges::find(cause.ranks, rank) != cause.ranks.end()) continue;
      cause.ranks.push_back(rank);
      cause.units.push_back(static_cast<int32_t>(first - index.units.data()));
      if (reached == nullptr) reached = newest;
    }
  }
  if (cause.ranks.empty()) return;
  std::ranges::sort(cause.ranks);
  cause.rule = "flight.restarted";
  cause.units.push_back(static_cast<int32_t>(reached - index.units.data()));
  cause.groups = {reached->group};
  cause.seq = reached->seq;
  cause.op = std::string(NameInWords(index, *reached));
  cause.what = fmt::format("started again after {} peers had completed {}",
                           cause.ranks.size() == 1 ? "its" : "their", OpInWords(index, *reached));
  cause.confidence = 0.85;
  cause.why =
      "its dump begins with record 0, long after its peers completed what needs all members";
  cause.next_step =
      "Look at what ended its first process: its output of before, the launcher, the host.";
  causes.push_back(std::move(cause));
}

}  // namespace debrief::analyses::flight
