// A rank whose peers completed collectives that it did not: they cannot have completed without it,
// so what it reports is stale. Its GPU raised an error, or its watchdog thread no longer runs.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyses/flight/cause.h"
#include "analyses/flight/waits/completed_ops.h"
#include "analyses/flight/words.h"

namespace debrief::analyses::flight {

namespace {

struct Lag {
  int64_t count = 0;
  int32_t unit = -1;       // the oldest
  bool timed_out = false;  // that one, though its peers completed it
};

// rank -> units that some peer completed and it did not
std::map<int32_t, Lag> FindLags(const Index& index) {
  std::map<int32_t, Lag> lags;
  CompletedOps completed(index);
  for (const RankInfo& info : index.ranks) {
    for (int32_t at : info.pending) {
      const Unit& unit = index.UnitAt(at);
      bool behind = unit.p2p ? unit.peer >= 0 && index.UnitAt(unit.peer).completed()
                             : completed.ByAnyMember(unit.group, unit.seq);
      if (!behind) continue;
      Lag& lag = lags[unit.rank];
      if (lag.count++ > 0) continue;
      lag.unit = at;
      lag.timed_out = index.ops.retired[unit.row] != 0;  // and not completed
    }
  }
  return lags;
}

bool AnyoneElseWaits(const Index& index, const std::map<int32_t, Lag>& lags) {
  for (size_t i = 0; i < index.ranks.size(); ++i) {
    if (!index.ranks[i].pending.empty() && !lags.contains(static_cast<int32_t>(i))) return true;
  }
  return false;
}

// When the first peer saw it completed; null when that is not told.
int64_t FirstCompletion(const Index& index, const Unit& unit) {
  int64_t first = kNone64;
  auto look = [&](const Unit& other) {
    int64_t time = index.ops.completed_ns[other.row];
    if (other.completed() && time != kNone64 && (first == kNone64 || time < first)) first = time;
  };
  if (unit.p2p && unit.peer >= 0) look(index.UnitAt(unit.peer));
  const Group& group = index.GroupOf(unit);
  const SeqRow* row = unit.p2p ? nullptr : index.FindRow(group, unit.seq);
  if (row == nullptr) return first;
  for (int32_t at : index.UnitsOf(group, *row)) look(index.UnitAt(at));
  return first;
}

// Many ranks lag, each by what peers completed in the last moments of its own dump: their watchdogs
// had not looked yet when the dumps were taken.
bool IsAMoment(const Index& index, const std::map<int32_t, Lag>& lags) {
  constexpr int64_t kMomentNs = 300'000'000;  // watchdogs look every 100 ms
  constexpr size_t kMany = 3;                 // a third of all
  if (lags.size() * kMany < index.ranks.size()) return false;
  return std::all_of(lags.begin(), lags.end(), [&](const auto& entry) {
    int64_t newest = kNone64, since = 0;
    for (const Unit& unit : index.UnitsOf(entry.first))
      newest = std::max({newest, index.ops.created_ns[unit.row], index.ops.completed_ns[unit.row]});
    int64_t completed = FirstCompletion(index, index.UnitAt(entry.second.unit));
    bool told = newest != kNone64 && completed != kNone64;
    return told && !__builtin_sub_overflow(newest, completed, &since) && since < kMomentNs;
  });
}

}  // namespace

// The watchdog looks every fraction of a second, so the newest collective may look incomplete on
// one rank for a moment. That alone is a warning at most, and nothing at all while others wait for
// something. An operation that timed out is no matter of a moment.
void FindCompletionLag(const Index& index, std::vector<Cause>& causes) {
  constexpr int64_t kClear = 3;
  std::map<int32_t, Lag> lags = FindLags(index);
  int64_t most = 0;
  for (const auto& [rank, lag] : lags) most = std::max(most, lag.count);
  const bool timed_out =
      std::ranges::any_of(lags, [](const auto& entry) { return entry.second.timed_out; });
  if (timed_out) std::erase_if(lags, [](const auto& entry) { return !entry.second.timed_out; });
  if (!timed_out && IsAMoment(index, lags)) return;
  bool clear = timed_out || most >= kClear;
  if (most == 0 || (!clear && AnyoneElseWaits(index, lags))) return;
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.completion_lag";
  cause.severity = clear ? Severity::kError : Severity::kWarning;
  for (const auto& [rank, lag] : lags) {
    if (!timed_out && lag.count * 4 < most) continue;  // a moment's delay beside a real one
    cause.ranks.push_back(rank);
    cause.units.push_back(lag.unit);
  }
  const Unit& unit = index.UnitAt(cause.units.front());
  cause.groups = {unit.group};
  cause.seq = unit.seq;
  cause.op = std::string(NameInWords(index, unit));
  cause.what =
      fmt::format("did not complete {} of the operations that {} peers completed, from {} on", most,
                  cause.ranks.size() == 1 ? "its" : "their", OpInWords(index, unit));
  cause.confidence = clear ? 0.85 : 0.5;
  const bool is_one = cause.ranks.size() == 1;
  cause.why = "only the newest operation lags; the watchdog may just not have looked yet";
  if (clear)
    cause.why = fmt::format("peers cannot complete a collective without {}",
                            is_one ? "it, so its GPU or its watchdog has stopped"
                                   : "them, so their GPUs or their watchdogs have stopped");
  cause.next_step = fmt::format(
      "Look at the kernel log of {} for Xid errors, and at the output of {} for a CUDA error.",
      is_one ? "its host" : "their hosts", is_one ? "this rank" : "these ranks");
}

}  // namespace debrief::analyses::flight
