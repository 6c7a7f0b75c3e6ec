#include "analyses/timeline/clock/matches.h"

#include <algorithm>
#include <tuple>

namespace debrief::analyses::timeline_clock {

namespace {

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
