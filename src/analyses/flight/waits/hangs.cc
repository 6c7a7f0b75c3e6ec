// All members joined an operation, and none completes it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyses/flight/cause.h"
#include "analyses/flight/waits/completed_ops.h"
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
bool HasBeenCompleted(const Index& index, CompletedOps& completed, const Unit& unit) {
  if (unit.p2p) return unit.peer >= 0 && index.UnitAt(unit.peer).completed();
  return completed.ByAnyMember(unit.group, unit.seq);
}

// NCCL puts a small message into a buffer and is done with it, whether or not the receiver is
// there. So a send that is not completed, although the ones before it are, waits for its own GPU.
// -1 when the halves do not tell that: a batch that also receives, a large message, the first of a
// channel.
int32_t SendThatDidNotRun(const Index& index, const Waits& waits, const Unit& unit) {
  constexpr int64_t kFitsBuffer = int64_t{1} << 20;  // a quarter of NCCL_BUFFSIZE
  int32_t at = unit.send ? static_cast<int32_t>(&unit - index.units.data()) : unit.peer;
  if (at < 0) return -1;
  const Unit& send = index.UnitAt(at);
  const Unit* oldest = waits.At(send.rank);
  bool is_at = oldest != nullptr && oldest->p2p && oldest->group == send.group &&
               oldest->seq == send.seq && !index.RankAt(send.rank).lost;
  if (!is_at || send.partner < 0) return -1;
  for (int32_t other : index.RankAt(send.rank).pending) {
    const Unit& part = index.UnitAt(other);
    if (!part.p2p || part.group != send.group || part.seq != send.seq) break;
    int64_t bytes = TensorBytes(index.Text(index.ops.input_sizes[part.row]),
                                index.Text(index.ops.input_dtypes[part.row]));
    if (!part.send || bytes < 0 || bytes > kFitsBuffer) return -1;
  }
  const Unit* before = nullptr;  // of the same channel
  for (const Unit& other : index.UnitsOf(send.rank)) {
    if (&other == &send) break;
    bool same = other.p2p && other.send && other.group == send.group &&
                other.partner == send.partner && other.completed();
    if (same) before = &other;
  }
  if (before == nullptr) return -1;
  bool taken =
      before->peer < 0 || index.UnitAt(before->peer).completed() || index.RankAt(send.partner).lost;
  return taken ? at : -1;
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

namespace {

void DescribeExchange(const Index& index, const Waits& waits, const Unit& unit, Cause& cause) {
  int32_t at = SendThatDidNotRun(index, waits, unit);
  if (at >= 0) {
    const Unit& send = index.UnitAt(at);
    cause.ranks = {send.rank};
    cause.units = {at};
    cause.seq = send.seq;
    cause.op = std::string(NameInWords(index, send));
    cause.what = fmt::format("issued {} to rank {} and its GPU did not run it",
                             OperationInWords(index, send), index.GlobalRank(send.partner));
    cause.confidence = 0.65;
    cause.why =
        "a send of this size completes without its receiver: earlier work of its GPU must still be "
        "running";
    return;
  }
  cause.ranks = SidesOf(unit);
  cause.what = fmt::format("joined {} and none completes it", OperationInWords(index, unit));
  cause.confidence = 0.6;
  cause.why = "both halves are there and their sizes agree: the link or a GPU hangs";
}

void DescribeCollective(const Index& index, const Unit& unit, Cause& cause) {
  cause.ranks = NotStarted(index, unit);
  if (!cause.ranks.empty()) {
    cause.what = fmt::format("issued {} and its GPU did not start it, those of the others did",
                             OperationInWords(index, unit));
    cause.confidence = 0.7;
    cause.why = "what its GPU got before still runs: a kernel that hangs, or one in another stream";
    return;
  }
  cause.what = fmt::format("{} joined {} and none completes it",
                           RanksAsSubject(GlobalRanks(index, index.GroupOf(unit).members)),
                           OperationInWords(index, unit));
  cause.confidence = 0.6;
  cause.why = fmt::format(
      "sizes and types agree and everybody is there: the kernel, the link or a GPU hangs; "
      "dumps do not say whose{}",
      UnseenSplits(index, unit));
}

// Is the rank in an operation that all have joined, for longer than it may take? Healthy dumps are
// taken in the middle of work, too, so a hang needs proof: an entry that was given up, or a
// watchdog that says so.
bool Hangs(const Index& index, const Waits& waits, const std::set<int32_t>& timed_out,
           CompletedOps& completed, int32_t rank) {
  const Unit* unit = waits.At(rank);
  if (unit == nullptr || index.RankAt(rank).lost || !waits.Of(rank).empty()) return false;
  if (HasBeenCompleted(index, completed, *unit)) return false;
  return index.ops.retired[unit->row] != 0 || timed_out.contains(index.GlobalRank(rank));
}

}  // namespace

// The first rank that hangs is told; before it one whose send did not run, which explains why
// others of its chain hang.
void FindHangs(const Index& index, const Waits& waits, std::vector<Cause>& causes) {
  std::set<int32_t> timed_out = RanksThatTimedOut(index);
  CompletedOps completed(index);
  int32_t first = -1;
  for (int32_t rank = 0; rank < index.rank_count(); ++rank) {
    if (!Hangs(index, waits, timed_out, completed, rank)) continue;
    const Unit& unit = *waits.At(rank);
    bool own_send = unit.p2p && SendThatDidNotRun(index, waits, unit) >= 0;
    if (first < 0 || own_send) first = rank;
    if (own_send) break;
  }
  if (first < 0) return;
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.gpu_or_network_hang";
  DescribeWait(index, waits, first, cause);
  const Unit& unit = *waits.At(first);
  if (unit.p2p) {
    DescribeExchange(index, waits, unit, cause);
  } else {
    DescribeCollective(index, unit, cause);
  }
  cause.next_step =
      "Check the GPUs and links of these ranks (nvidia-smi, Xid errors, NCCL_DEBUG=INFO).";
}

}  // namespace debrief::analyses::flight
