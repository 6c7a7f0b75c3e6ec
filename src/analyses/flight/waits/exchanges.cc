// Sends and receives whose other half was never issued, or only after something that the other rank
// will not leave.
//
// Members of a batch are looked at one by one: a batch hangs when one of them has no other half.
// Two halves that miss each other have a rank in common (it sent to the wrong one); of a single one
// the habits of both sides tell who left the way.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyses/flight/waits/describe.h"
#include "analyses/flight/waits/habits.h"
#include "analyses/flight/words.h"
#include "base/text/rank_list.h"

namespace debrief::analyses::flight {

namespace {

// A send or receive, at which its rank is, and the rank that should have the other half.
struct Half {
  int32_t unit;
  int32_t rank;
  int32_t partner;
};

// The partner is itself in something that it will not leave: all of it has joined, or it waits for
// the rank in turn. Otherwise it may come yet.
bool WillNotCome(const Waits& waits, const Half& half) {
  if (waits.At(half.partner) == nullptr) return false;
  if (waits.Of(half.partner).empty()) return true;
  return Contains(waits.Behind({half.rank}), half.partner);
}

// Halves that ranks are in and that `lacks` holds for, of partners whose dumps are whole. Empty
// when there are more than can be told apart.
template <typename Lacks>
std::vector<Half> HalvesThat(const Index& index, const Waits& waits, Lacks lacks) {
  constexpr size_t kMost = 64;
  std::vector<Half> halves;
  for (int32_t rank = 0; rank < index.rank_count(); ++rank) {
    const Unit* at = waits.At(rank);
    if (at == nullptr || !at->p2p) continue;
    for (int32_t position : index.RankAt(rank).pending) {
      const Unit& unit = index.UnitAt(position);
      if (!unit.p2p || unit.group != at->group || unit.seq != at->seq) break;
      if (unit.fell_out || unit.partner < 0 || !lacks(unit)) continue;
      const RankInfo& partner = index.RankAt(unit.partner);
      if (partner.has_dump && partner.whole) halves.push_back({position, rank, unit.partner});
      if (halves.size() > kMost) return {};
    }
  }
  return halves;
}

std::vector<Half> UnmatchedHalves(const Index& index, const Waits& waits) {
  std::vector<Half> halves =
      HalvesThat(index, waits, [](const Unit& unit) { return unit.peer < 0; });
  std::erase_if(halves, [&](const Half& half) { return !WillNotCome(waits, half); });
  return halves;
}

// Halves that the partner went past: it has issued none, or one that comes only after what it is
// in.
std::vector<Half> PassedHalves(const Index& index, const Waits& waits) {
  std::vector<Half> halves = HalvesThat(index, waits, [&](const Unit& unit) {
    if (unit.peer < 0) return true;
    const Unit* at = waits.At(unit.partner);
    return at != nullptr && !index.UnitAt(unit.peer).completed() && &index.UnitAt(unit.peer) > at;
  });
  std::erase_if(halves, [&](const Half& half) {
    return waits.At(half.partner) != nullptr && !WillNotCome(waits, half);
  });
  return halves;
}

// The rank that is in all of several halves; empty when there is none, or more than one.
std::vector<int32_t> CommonRank(const std::vector<Half>& halves) {
  std::set<int32_t> common = {halves.front().rank, halves.front().partner};
  for (const Half& half : halves)
    std::erase_if(common, [&](int32_t rank) { return rank != half.rank && rank != half.partner; });
  if (halves.size() < 2 || common.size() != 1) return {};
  return {common.begin(), common.end()};
}

// Where a rank did what it never did after the same operations: a unit that is not completed, or
// one shortly before (NCCL completes a batch that lacks a half); -1 when there is none.
int32_t OddStep(const Index& index, int32_t rank) {
  constexpr int32_t kBefore = 4, kFrom = 4;
  const RankInfo& info = index.RankAt(rank);
  int32_t now = info.pending.empty() ? info.last_unit : info.pending.front();
  int32_t end = std::min(info.last_unit, now + kFrom);
  for (int32_t at = std::max(info.first_unit, now - kBefore); at < end; ++at) {
    if (HabitOf(index, at) == Habit::kNever) return at;
  }
  return -1;
}

// Whoever does what it never did; both where that tells nothing.
std::vector<int32_t> ByHabit(const Index& index, const Half& half) {
  bool own = OddStep(index, half.rank) >= 0, other = OddStep(index, half.partner) >= 0;
  if (own != other) return {own ? half.rank : half.partner};
  return {std::min(half.rank, half.partner), std::max(half.rank, half.partner)};
}

// "send #5 to rank 3", or the operation that is no exchange.
std::string StepInWords(const Index& index, const Unit& unit) {
  if (!unit.p2p || unit.partner < 0) return OpInWords(index, unit);
  return fmt::format("{} #{} {} rank {}", unit.send ? "send" : "receive", unit.seq,
                     unit.send ? "to" : "from", index.GlobalRank(unit.partner));
}

std::string HalfInWords(const Index& index, const Half& half) {
  const Unit& unit = index.UnitAt(half.unit);
  return fmt::format("{} #{} of rank {} {} rank {}{}", unit.send ? "send" : "receive", unit.seq,
                     index.GlobalRank(half.rank), unit.send ? "to" : "from",
                     index.GlobalRank(half.partner), AtSite(index, unit));
}

// The half whose partner left its habit, while the rank that waits did not; null when there is
// none, or when several partners did.
const Half* LeftOutHalf(const Index& index, const std::vector<Half>& halves) {
  const Half* found = nullptr;
  for (const Half& half : halves) {
    if (OddStep(index, half.partner) < 0 || OddStep(index, half.rank) >= 0) continue;
    if (found != nullptr && found->partner != half.partner) return nullptr;
    if (found == nullptr) found = &half;
  }
  return found;
}

}  // namespace

void AddBrokenExchange(const Index& index, const Waits& waits, std::vector<Cause>& causes) {
  std::vector<Half> halves = UnmatchedHalves(index, waits);
  if (halves.empty()) return;
  std::vector<int32_t> blamed = CommonRank(halves);
  bool common = !blamed.empty();
  if (!common && halves.size() > 1) return;  // a circle of them: nobody stands out
  if (!common) blamed = ByHabit(index, halves.front());
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.p2p_unmatched";
  cause.ranks = blamed;
  const Unit& unit = index.UnitAt(halves.front().unit);
  cause.groups = {unit.group};
  cause.seq = unit.seq;
  cause.op = std::string(NameInWords(index, unit));
  for (const Half& half : halves) cause.units.push_back(half.unit);
  std::string second = halves.size() > 1 ? ", and " + HalfInWords(index, halves[1]) : "";
  cause.what = fmt::format("{} in {}: {} has no other half{}",
                           blamed.size() == 1 ? "broke an exchange" : "disagree on an exchange",
                           GroupInWords(index, index.GroupOf(unit)),
                           HalfInWords(index, halves.front()), second);
  cause.confidence = common ? 0.8 : blamed.size() == 1 ? 0.75 : 0.6;
  cause.why = common               ? "it is in all exchanges that lack their other half"
              : blamed.size() == 1 ? "after the same operations it never did this before; its "
                                     "partner does what it always did"
                                   : "nothing shows which side is wrong";
  cause.next_step = "Compare the send and receive calls of both ranks at this line.";
}

void AddLeftOutHalf(const Index& index, const Waits& waits, std::vector<Cause>& causes) {
  std::vector<Half> halves = PassedHalves(index, waits);
  const Half* half = LeftOutHalf(index, halves);
  if (half == nullptr) return;
  int32_t odd = OddStep(index, half->partner);
  const Unit& waiting = index.UnitAt(half->unit);
  const Unit& instead = index.UnitAt(odd);
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.p2p_unmatched";
  cause.ranks = {half->partner};
  cause.groups = {waiting.group};
  cause.seq = waiting.seq;
  cause.op = std::string(NameInWords(index, waiting));
  cause.units = {odd, half->unit};
  cause.what = fmt::format(
      "did not {} rank {}, which waits in {} #{} of {}{}; it issued {}{} instead",
      waiting.send ? "receive from" : "send to", index.GlobalRank(half->rank),
      waiting.send ? "send" : "receive", waiting.seq, GroupInWords(index, index.GroupOf(waiting)),
      AtSite(index, waiting), StepInWords(index, instead), AtSite(index, instead));
  cause.confidence = 0.75;
  cause.why = "it did what it never did after the same operations; the rank that waits did not";
  cause.next_step = "Compare the send and receive calls of both ranks at these lines.";
}

}  // namespace debrief::analyses::flight
