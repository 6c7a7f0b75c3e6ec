#include "analyses/timeline/clock/matching.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "base/stats/statistics.h"

namespace debrief::analyses::timeline_clock {

namespace {

constexpr int64_t kFarthest = 64;    // shifts that are tried, in both directions
constexpr int64_t kSample = 128;     // places at which lanes are compared
constexpr double kSameEnough = 0.5;  // below this share of agreement nothing is matched
constexpr double kNearBest = 0.98;   // shifts that agree nearly as well are told apart by time
constexpr int64_t kNegligibleNs = 50'000;  // spreads closer than this do not tell shifts apart

class Comparison {
 public:
  Comparison(const Model& model, const Lane& reference, const Lane& lane)
      : model_(model),
        table_(model.tables.Get<ProfileCollectiveTable>()),
        reference_(reference),
        lane_(lane) {}

  // Place i of the lane is place i + shift of the reference.
  struct Outcome {
    double agreement = 0;  // share of places with the same op and size
    int64_t spread_ns = 0;
  };

  Outcome Try(int64_t shift, bool with_times) const {
    int64_t overlap = Overlap(shift);
    int64_t first = std::max<int64_t>(0, -shift);
    int64_t stride = std::max<int64_t>(1, overlap / kSample);
    int64_t compared = 0;
    int64_t agreed = 0;
    std::vector<int64_t> distances;
    for (int64_t i = first; i < first + overlap; i += stride, ++compared) {
      size_t own = lane_.rows[static_cast<size_t>(i)];
      size_t other = reference_.rows[static_cast<size_t>(i + shift)];
      if (!Agree(own, other)) continue;
      ++agreed;
      if (with_times) distances.push_back(EndOf(table_, own) - EndOf(table_, other));
    }
    if (compared == 0) return {};
    return {static_cast<double>(agreed) / static_cast<double>(compared), MeanDeviation(distances)};
  }

  // kNone64 when no shift makes them agree

  int64_t Best() const {
    auto shorter = static_cast<int64_t>(std::min(lane_.rows.size(), reference_.rows.size()));
    int64_t least = std::max<int64_t>(1, shorter / 2);  // places that have to be left to compare
    std::vector<std::pair<int64_t, double>> tried;      // shift, agreement
    double best = 0;
    for (int64_t shift = -kFarthest; shift <= kFarthest; ++shift) {
      if (Overlap(shift) < least) continue;
      tried.emplace_back(shift, Try(shift, false).agreement);
      best = std::max(best, tried.back().second);
    }
    if (best < kSameEnough) return kNone64;
    std::vector<std::tuple<int64_t, int64_t, int64_t>> alike;  // spread, distance, shift
    for (auto [shift, agreement] : tried) {
      if (agreement >= best * kNearBest)
        alike.emplace_back(Try(shift, true).spread_ns, std::abs(shift), shift);
    }
    auto [spread, distance, chosen] = *std::min_element(alike.begin(), alike.end());
    // Recordings mostly begin together: another shift has to be clearly better than none.
    for (auto [other_spread, other_distance, other] : alike) {
      if (other == 0 && other_spread <= 2 * spread + kNegligibleNs) return 0;
    }
    return chosen;
  }

 private:
  bool Agree(size_t a, size_t b) const {
    return OpsAgree(model_, table_.op[a], table_.op[b]) && table_.bytes[a] == table_.bytes[b];
  }

  int64_t Overlap(int64_t shift) const {
    auto own = static_cast<int64_t>(lane_.rows.size());
    auto other = static_cast<int64_t>(reference_.rows.size());
    return std::min(own, other - shift) - std::max<int64_t>(0, -shift);
  }

  const Model& model_;
  const ProfileCollectiveTable& table_;
  const Lane& reference_;
  const Lane& lane_;
};
bool HasSequence(const ProfileCollectiveTable& table, const Group& group) {
  return std::all_of(group.lanes.begin(), group.lanes.end(), [&](const Lane& lane) {
    return std::all_of(lane.rows.begin(), lane.rows.end(),
                       [&](size_t row) { return table.seq[row] != kNone64; });
  });
}

struct Entry {
  int64_t slot = 0;
  int64_t repeat = 0;  // of the slot in its lane: kernels of one coalesced op share a number
  Presence presence;
};

std::vector<Entry> EntriesOf(const Group& group) {
  std::vector<Entry> entries;
  for (const Lane& lane : group.lanes) {
    int64_t repeat = 0;
    for (size_t i = 0; i < lane.rows.size(); ++i) {
      if (lane.slots[i] == kNone64) continue;
      repeat = i > 0 && lane.slots[i] == lane.slots[i - 1] ? repeat + 1 : 0;
      entries.push_back({lane.slots[i], repeat, {lane.node, lane.rows[i]}});
    }
  }
  auto key = [](const Entry& each) {
    return std::tuple(each.slot, each.repeat, each.presence.node, each.presence.row);
  };
  std::sort(entries.begin(), entries.end(),
            [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  return entries;
}

bool Agree(const Model& model, const Match& match) {
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  return std::all_of(match.present.begin(), match.present.end(), [&](const Presence& each) {
    return OpsAgree(model, table.op[each.row], table.op[match.present[0].row]);
  });
}

}  // namespace

void MatchLanes(const Model& model, Group& group) {
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  bool by_seq = HasSequence(table, group);
  const Lane& reference =
      *std::max_element(group.lanes.begin(), group.lanes.end(),
                        [](const Lane& a, const Lane& b) { return a.rows.size() < b.rows.size(); });
  for (Lane& lane : group.lanes) {
    lane.slots.assign(lane.rows.size(), kNone64);
    int64_t shift = by_seq || &lane == &reference ? 0 : Comparison(model, reference, lane).Best();
    if (shift == kNone64) continue;
    for (size_t i = 0; i < lane.rows.size(); ++i)
      lane.slots[i] = by_seq ? table.seq[lane.rows[i]] : static_cast<int64_t>(i) + shift;
  }
}

std::vector<Match> FindMatches(const Model& model, const Job& job) {
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  std::vector<Match> matches;
  for (size_t group = 0; group < job.groups.size(); ++group) {
    if (job.groups[group].lanes.size() < 2) continue;
    std::vector<Entry> entries = EntriesOf(job.groups[group]);
    for (size_t i = 0; i < entries.size();) {
      Match match{.group = group, .slot = entries[i].slot, .present = {}};
      match.on_device = true;
      int64_t repeat = entries[i].repeat;
      for (; i < entries.size() && entries[i].slot == match.slot && entries[i].repeat == repeat;
           ++i) {
        match.present.push_back(entries[i].presence);
        match.on_device = match.on_device && table.on_device[entries[i].presence.row] != 0;
      }
      match.synchronises = Synchronises(model.pools.Text(table.op[match.present[0].row]));
      if (match.present.size() > 1 && Agree(model, match)) matches.push_back(std::move(match));
    }
  }
  return matches;
}

}  // namespace debrief::analyses::timeline_clock
