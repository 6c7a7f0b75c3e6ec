// How far the clock of each rank is ahead of the others'.
//
// A collective ends at the same moment on all members, so what their dumps say of that moment
// differs by their clocks, and by up to 100 ms, because a watchdog looks at the GPU only now and
// then. Hence medians over many collectives, and an offset is believed only when it is beyond both.
//
//   group --> deviation of each member from the median of the members: median over collectives
//   groups that share ranks are put on one clock, the largest first; its median is zero
//
// Cost: 64 collectives a group, linear in the memberships.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "analyses/flight/arrivals/arrivals.h"
#include "analyses/flight/blocks.h"
#include "base/stats/statistics.h"

namespace debrief::analyses::flight {

namespace {

constexpr size_t kMostSamples = 64;
constexpr size_t kEnough = 8;                      // collectives
constexpr int64_t kWatchdogNs = 100'000'000;       // how often a watchdog looks
constexpr int64_t kClear = 3;                      // times the spread
constexpr int64_t kFarthestNs = int64_t{1} << 50;  // 13 days: no clock is that wrong

int64_t Bounded(int64_t ns) { return std::clamp(ns, -kFarthestNs, kFarthestNs); }

// What each member of a group says of its clock, against the group's.
std::vector<ClockOffset> Compare(const Index& index, const Group& group) {
  std::vector<std::vector<int64_t>> deviations(group.members.size());
  std::vector<std::pair<size_t, int64_t>> ends;  // member, completed
  size_t step = group.rows.size() / kMostSamples + 1;
  for (auto& each : deviations) each.reserve(group.rows.size() / step + 1);
  for (size_t i = 0; i < group.rows.size(); i += step) {
    ends.clear();
    std::vector<int64_t> sorted;
    size_t member = 0;  // both are in the order of ranks
    for (int32_t at : index.UnitsOf(group, group.rows[i])) {
      const Unit& unit = index.UnitAt(at);
      const int64_t end = index.ops.completed_ns[unit.row];
      while (member < group.members.size() && group.members[member] < unit.rank) ++member;
      const bool is_member = member < group.members.size() && group.members[member] == unit.rank;
      if (!is_member || !unit.completed() || unit.region || !IsTime(end)) continue;
      ends.emplace_back(member, end);
      sorted.push_back(end);
    }
    if (ends.size() < 2 || ends.size() * 2 < group.members.size()) continue;
    int64_t middle = Median(std::move(sorted));
    for (auto [member, end] : ends) deviations[member].push_back(Bounded(end - middle));
  }
  std::vector<ClockOffset> offsets(group.members.size());
  for (size_t member = 0; member < offsets.size(); ++member) {
    std::vector<int64_t>& seen = deviations[member];
    if (seen.size() < kEnough) continue;
    offsets[member].offset_ns = Median(seen);
    std::sort(seen.begin(), seen.end());
    offsets[member].spread_ns = seen[seen.size() * 3 / 4] - seen[seen.size() / 4];
  }
  return offsets;
}

// Puts all groups on one clock, beginning with the largest.
class Joiner {
 public:
  explicit Joiner(const Index& index)
      : index_(index), offsets_(index.ranks.size()), groups_of_(index.ranks.size()) {
    compared_.resize(index.groups.size());
    ForBlocks<size_t>(
        index,
        [&](GroupBlock block) {
          for (size_t i = block.begin; i < block.end; ++i) {
            if (index.groups[i].members.size() >= 2) compared_[i] = Compare(index, index.groups[i]);
          }
          return block.end;
        },
        [](size_t) {});
    for (size_t i = 0; i < index.groups.size(); ++i) {
      const Group& group = index.groups[i];
      for (size_t member = 0; member < compared_[i].size(); ++member) {
        if (compared_[i][member].offset_ns == kNone64) continue;
        groups_of_[static_cast<size_t>(group.members[member])].push_back(i);
      }
    }
  }

  std::vector<ClockOffset> Join() {
    std::set<Place> left;
    for (size_t i = 0; i < index_.groups.size(); ++i) left.insert(PlaceOf(i));
    while (!left.empty()) {
      std::set<Place> reached = {*left.begin()};
      std::vector<size_t> placed;
      while (!reached.empty()) {
        Place next = *reached.begin();
        reached.erase(reached.begin());
        if (left.erase(next) > 0) PlaceMembers(next.group, placed, reached);
      }
      Centre(placed);
    }
    return std::move(offsets_);
  }

 private:
  struct Place {
    size_t size;
    size_t group;
    bool operator<(const Place& other) const {
      return size != other.size ? size > other.size : group < other.group;
    }
  };

  Place PlaceOf(size_t group) const { return {index_.groups[group].members.size(), group}; }

  // The members already placed tell where the group's clock is; the others follow.
  void PlaceMembers(size_t group, std::vector<size_t>& placed, std::set<Place>& reached) {
    const std::vector<int32_t>& members = index_.groups[group].members;
    const std::vector<ClockOffset>& compared = compared_[group];
    std::vector<int64_t> known;
    for (size_t i = 0; i < compared.size(); ++i) {
      const ClockOffset& rank = offsets_[static_cast<size_t>(members[i])];
      if (compared[i].offset_ns != kNone64 && rank.offset_ns != kNone64)
        known.push_back(rank.offset_ns - compared[i].offset_ns);
    }
    int64_t base = Median(std::move(known));
    for (size_t i = 0; i < compared.size(); ++i) {
      ClockOffset& rank = offsets_[static_cast<size_t>(members[i])];
      if (compared[i].offset_ns == kNone64 || rank.offset_ns != kNone64) continue;
      rank = {Bounded(base + compared[i].offset_ns), compared[i].spread_ns};
      placed.push_back(static_cast<size_t>(members[i]));
      for (size_t other : groups_of_[placed.back()]) reached.insert(PlaceOf(other));
    }
  }

  void Centre(const std::vector<size_t>& placed) {
    if (placed.empty()) return;
    std::vector<int64_t> values;
    for (size_t rank : placed) values.push_back(offsets_[rank].offset_ns);
    int64_t middle = Median(std::move(values));
    for (size_t rank : placed) offsets_[rank].offset_ns -= middle;
  }

  const Index& index_;
  std::vector<ClockOffset> offsets_;
  std::vector<std::vector<ClockOffset>> compared_;  // by group, then member
  std::vector<std::vector<size_t>> groups_of_;      // by rank
};

}  // namespace

int64_t ClockOffset::correction_ns() const {
  if (offset_ns == kNone64 || spread_ns == kNone64) return 0;
  int64_t size = std::abs(offset_ns);
  return size > kWatchdogNs && size > kClear * spread_ns ? offset_ns : 0;
}

std::vector<ClockOffset> EstimateClocks(const Index& index) { return Joiner(index).Join(); }

}  // namespace debrief::analyses::flight
