// Who comes last, again and again, in a job that does not hang?
//
// Of every collective that all members joined: who issued it last, and how long after the one
// before. One late arrival is chance (a compilation, a checkpoint); a straggler is late by much
// several times, so the third-longest delay of each rank is compared.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyses/flight/cause.h"

namespace debrief::analyses::flight {

namespace {

constexpr size_t kTimes = 3;
constexpr int64_t kSmallestNs = 5'000'000;  // below 5 ms nobody calls it a straggler
constexpr double kClear = 1.5;              // beyond the next rank

// rank -> its longest delays, longest first
using Delays = std::map<int32_t, std::vector<std::pair<int64_t, int32_t>>>;

Delays FindDelays(const Index& index) {
  Delays delays;
  for (const Group& group : index.groups) {
    for (const SeqRow& row : group.rows) {
      auto units = index.UnitsOf(group, row);
      if (units.size() < 2 || units.size() != group.members.size()) continue;
      int64_t last = kNone64, before = kNone64;
      int32_t latest = -1;
      for (int32_t at : units) {
        int64_t time =
            index.ops.created_ns[static_cast<size_t>(index.units[static_cast<size_t>(at)].row)];
        if (time > last) {
          before = last;
          last = time;
          latest = at;
        } else {
          before = std::max(before, time);
        }
      }
      int64_t delay = 0;
      if (before == kNone64 || __builtin_sub_overflow(last, before, &delay)) continue;
      auto& list = delays[index.units[static_cast<size_t>(latest)].rank];
      list.emplace_back(delay, latest);
      std::sort(list.rbegin(), list.rend());
      if (list.size() > kTimes) list.pop_back();
    }
  }
  return delays;
}

}  // namespace

void FindStragglers(const Index& index, std::vector<Cause>& causes) {
  std::vector<std::pair<int64_t, int32_t>> repeated;  // third-longest delay, rank
  Delays delays = FindDelays(index);
  for (const auto& [rank, list] : delays) {
    if (list.size() == kTimes) repeated.emplace_back(list.back().first, rank);
  }
  std::sort(repeated.rbegin(), repeated.rend());
  if (repeated.size() < 2 || repeated[0].first < kSmallestNs) return;
  if (static_cast<double>(repeated[0].first) < kClear * static_cast<double>(repeated[1].first))
    return;
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.straggler";
  cause.severity = Severity::kWarning;
  cause.ranks = {repeated[0].second};
  for (const auto& [delay, unit] : delays[repeated[0].second]) cause.units.push_back(unit);
  const Unit& unit = index.units[static_cast<size_t>(cause.units.front())];
  cause.groups = {unit.group};
  cause.seq = unit.seq;
  cause.op = std::string(index.OpName(unit));
  cause.what = fmt::format(
      "comes late to collectives again and again: {:.0f} ms and more after all others, the next "
      "rank {:.0f} ms",
      static_cast<double>(repeated[0].first) / 1e6, static_cast<double>(repeated[1].first) / 1e6);
  cause.confidence = 0.6;
  cause.why =
      "third-longest delay of each rank behind the last but one member; clocks of hosts may differ";
  cause.next_step = "Look at a profile of this rank beside one of its peers: host or GPU?";
}

}  // namespace debrief::analyses::flight
