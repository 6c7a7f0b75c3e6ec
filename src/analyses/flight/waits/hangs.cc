// All members joined an operation, and none completes it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyses/flight/cause.h"
#include "analyses/flight/waits/describe.h"
#include "analyses/flight/waits/waits.h"
#include "analyses/flight/words.h"
#include "base/text/rank_list.h"
#include "tables/text_event.h"

namespace debrief::analyses::flight {

namespace {

// Ranks whose watchdog says that their time limit has passed.
std::set<int32_t> RanksThatTimedOut(const Index& index) {
  const auto& events = index.model.tables.Get<TextEventTable>();
  std::set<int32_t> ranks;
  for (size_t i = 0; i < events.size(); ++i) {
    bool ours = events.job[i] == index.job && events.attempt[i] == index.attempt;
    if (ours && index.Text(events.kind[i]) == "watchdog_timeout") ranks.insert(events.rank[i]);
  }
  return ranks;
}

// Members whose GPU has not begun what the GPUs of most others have: something before it still runs
// there. Empty when starts are not recorded, or when most have not begun.
std::vector<int32_t> NotStarted(const Index& index, const Unit& unit) {
  std::vector<int32_t> late;
  const SeqRow* row = index.FindRow(index.GroupOf(unit), unit.seq);
  if (unit.p2p || row == nullptr) return late;
  auto units = index.UnitsOf(index.GroupOf(unit), *row);
  size_t started = 0;
  for (int32_t at : units) {
    const Unit& member = index.UnitAt(at);
    started += member.state == OpState::kStarted ? 1 : 0;
    if (member.state == OpState::kScheduled) late.push_back(member.rank);
  }
  return late.size() < started ? late : std::vector<int32_t>();
}

// Then it does not hang: the others are slow, or have not reported it yet.
bool HasBeenCompleted(const Index& index, const Unit& unit) {
  if (unit.p2p) return unit.peer >= 0 && index.UnitAt(unit.peer).completed();
  const Group& group = index.GroupOf(unit);
  return std::any_of(group.members.begin(), group.members.end(),
                     [&](int32_t rank) { return index.HasCompleted(group, unit.seq, rank); });
}

std::vector<int32_t> SidesOf(const Unit& unit) {
  if (unit.partner < 0 || unit.partner == unit.rank) return {unit.rank};
  return {std::min(unit.rank, unit.partner), std::max(unit.rank, unit.partner)};
}

// What an all_to_all sends to whom is not recorded.
std::string_view UnseenSplits(const Index& index, const Unit& unit) {
  bool splits = ShapeOf(index.OpName(unit)) == OpShape::kAllToAll;
  return splits ? "; the split sizes of an all_to_all are not in dumps: splits that do not fit "
                  "together hang in the same way and cannot be seen here"
                : "";
}

}  // namespace

// Healthy dumps are taken in the middle of work, too, so a hang needs proof: an entry that was
// given up, or a watchdog that says so.
void FindHangs(const Index& index, const Waits& waits, std::vector<Cause>& causes) {
  std::set<int32_t> timed_out = RanksThatTimedOut(index);
  for (int32_t rank = 0; rank < index.rank_count(); ++rank) {
    const Unit* unit = waits.At(rank);
    if (unit == nullptr || !waits.Of(rank).empty() || HasBeenCompleted(index, *unit)) continue;
    if (index.ops.retired[unit->row] == 0 && !timed_out.contains(index.GlobalRank(rank))) continue;
    Cause& cause = causes.emplace_back();
    cause.rule = "flight.gpu_or_network_hang";
    cause.ranks = NotStarted(index, *unit);
    DescribeWait(index, waits, rank, cause);
    if (unit->p2p) {
      cause.ranks = SidesOf(*unit);
      cause.what = fmt::format("joined {} and none completes it", OperationInWords(index, *unit));
      cause.confidence = 0.6;
      cause.why = "both halves are there and their sizes agree: the link or a GPU hangs";
    } else if (!cause.ranks.empty()) {
      cause.what = fmt::format("issued {} and its GPU did not start it, those of the others did",
                               OperationInWords(index, *unit));
      cause.confidence = 0.7;
      cause.why =
          "what its GPU got before still runs: a kernel that hangs, or one in another stream";
    } else {
      cause.what = fmt::format("{} joined {} and none completes it",
                               RanksAsSubject(GlobalRanks(index, index.GroupOf(*unit).members)),
                               OperationInWords(index, *unit));
      cause.confidence = 0.6;
      cause.why = fmt::format(
          "sizes and types agree and everybody is there: the kernel, the link or a GPU hangs; "
          "dumps do not tell whose{}",
          UnseenSplits(index, *unit));
    }
    cause.next_step =
        "Check the GPUs and links of these ranks (nvidia-smi, Xid errors, NCCL_DEBUG=INFO).";
    return;
  }
}

}  // namespace debrief::analyses::flight
