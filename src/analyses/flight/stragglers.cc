// Who comes last, again and again, in a job that does not hang?
//
// Of every collective that all members joined: who issued it last, and how long after the one
// before (arrivals.h). One late arrival is chance (a compilation, a checkpoint); a straggler is
// late by much several times, so the third-longest delay of each rank is compared.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/flight/arrivals.h"
#include "analyses/flight/cause.h"

namespace debrief::analyses::flight {

namespace {

constexpr int64_t kSmallestNs = 5'000'000;  // below 5 ms nobody calls it a straggler
constexpr double kClear = 1.5;              // beyond the next rank

}  // namespace

void FindStragglers(const Index& index, const Arrivals& arrivals, std::vector<Cause>& causes) {
  std::vector<std::pair<int64_t, int32_t>> repeated;  // third-longest delay, rank
  for (size_t rank = 0; rank < arrivals.ranks.size(); ++rank) {
    const Delay& third = arrivals.ranks[rank].longest.back();
    if (third.unit >= 0) repeated.emplace_back(third.late_ns, static_cast<int32_t>(rank));
  }
  std::sort(repeated.rbegin(), repeated.rend());
  if (repeated.size() < 2 || repeated[0].first < kSmallestNs) return;
  if (static_cast<double>(repeated[0].first) < kClear * static_cast<double>(repeated[1].first))
    return;
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.straggler";
  cause.severity = Severity::kWarning;
  cause.ranks = {repeated[0].second};
  auto blamed = static_cast<size_t>(repeated[0].second);
  for (const Delay& delay : arrivals.ranks[blamed].longest) cause.units.push_back(delay.unit);
  const Unit& unit = index.units[static_cast<size_t>(cause.units.front())];
  cause.groups = {unit.group};
  cause.seq = unit.seq;
  cause.op = std::string(index.OpName(unit));
  cause.what = fmt::format(
      "comes late to collectives again and again: {:.0f} ms and more after all others, the next "
      "rank {:.0f} ms",
      static_cast<double>(repeated[0].first) / 1e6, static_cast<double>(repeated[1].first) / 1e6);
  cause.confidence = 0.6;
  bool corrected = std::any_of(arrivals.clocks.begin(), arrivals.clocks.end(),
                               [](const ClockOffset& clock) { return clock.correction_ns() != 0; });
  cause.why = fmt::format("third-longest delay of each rank behind the last but one member; {}",
                          corrected ? "clock offsets of hosts are taken off"
                                    : "clocks of hosts may differ by up to 100 ms");
  cause.next_step = "Look at a profile of this rank beside one of its peers: host or GPU?";
}

}  // namespace debrief::analyses::flight
