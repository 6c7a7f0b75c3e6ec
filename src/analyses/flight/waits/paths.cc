// Ranks that took another way than their peers: they went past what others are in, left out their
// half of an exchange, or wait for each other in a circle.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyses/flight/waits/describe.h"
#include "analyses/flight/waits/habits.h"
#include "analyses/flight/words.h"

namespace debrief::analyses::flight {

namespace {

// Has `rank` issued anything that `waiter` issued after the operation it is in? Then it went past
// that.
bool WentPast(const Index& index, const Unit& waiting, int32_t rank) {
  bool after = false;
  for (const Unit& unit : index.UnitsOf(waiting.rank)) {
    if (after && !unit.p2p) {
      const Group& group = index.GroupOf(unit);
      if (Contains(group.members, rank) && index.FindUnit(group, unit.seq, rank) != nullptr)
        return true;
    }
    after |= &unit == &waiting;
  }
  return false;
}

}  // namespace

// A rank that others wait for, that is itself at work elsewhere, and that went past what they are
// in.
void AddSkipped(const Index& index, const Waits& waits, std::vector<Cause>& causes) {
  std::map<int32_t, std::pair<int32_t, int32_t>>
      votes;  // rank -> how many say so, and one who does
  // Where very many wait for very many, some of them are asked.
  constexpr size_t kFew = 64;
  std::map<int32_t, size_t> asked;  // by place
  for (int32_t waiter = 0; waiter < index.rank_count(); ++waiter) {
    const Unit* unit = waits.At(waiter);
    if (waits.Of(waiter).size() > kFew && ++asked[waits.PlaceOf(waiter)] > kFew) continue;
    for (const Wait& wait : waits.Of(waiter)) {
      if (wait.kind != WaitKind::kNotIssued || unit->p2p || waits.At(wait.on) == nullptr) continue;
      if (WentPast(index, *unit, wait.on))
        votes.try_emplace(wait.on, 0, waiter).first->second.first++;
    }
  }
  if (votes.empty()) return;
  auto most = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
    return a.second.first < b.second.first;
  });
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.skipped_collective";
  cause.ranks = {most->first};
  DescribeWait(index, waits, most->second.second, cause);
  cause.what = fmt::format("skipped {} and went on",
                           OperationInWords(index, *waits.At(most->second.second)));
  cause.confidence = 0.8;
  cause.why = "it has issued operations that its peers issued only after this one";
  cause.next_step = "Look for a condition around this line that differs between ranks.";
}

namespace {

// How far a rank is in each kind of group: the newest sequence number by description and p2p or
// not.
using Progress = std::map<std::pair<StringId, bool>, int32_t>;

Progress ProgressOf(const Index& index, int32_t rank) {
  Progress progress;
  for (const Unit& unit : index.UnitsOf(rank)) {
    StringId description = index.GroupOf(unit).description;
    int32_t& seq = progress.try_emplace({description, unit.p2p}, unit.seq).first->second;
    seq = std::max(seq, unit.seq);
  }
  return progress;
}

// The directions in which a rank sends and receives, as ranks of its groups: its place in the
// pipeline.
std::set<std::tuple<bool, int32_t, int32_t>> PlaceInPipeline(const Index& index, int32_t rank) {
  std::set<std::tuple<bool, int32_t, int32_t>> place;
  for (const Unit& unit : index.UnitsOf(rank)) {
    size_t row = unit.row;
    if (unit.p2p) place.emplace(unit.send, index.ops.src[row], index.ops.dst[row]);
  }
  return place;
}

// Is `rank` behind `twin`, which does the same job elsewhere in the mesh, in this kind of exchange
// alone?
bool LacksOne(const Index& index, int32_t rank, int32_t twin, std::pair<StringId, bool> what) {
  Progress mine = ProgressOf(index, rank), theirs = ProgressOf(index, twin);
  if (mine.size() != theirs.size() || !mine.contains(what) || !theirs.contains(what)) return false;
  if (mine[what] >= theirs[what] || PlaceInPipeline(index, rank) != PlaceInPipeline(index, twin))
    return false;
  return std::all_of(mine.begin(), mine.end(), [&](const auto& entry) {
    return entry.first == what ||
           (theirs.contains(entry.first) && entry.second >= theirs[entry.first]);
  });
}

}  // namespace

void AddUnmatched(const Index& index, const Waits& waits, std::vector<Cause>& causes) {
  constexpr size_t kMostMembers = 32;  // peers of one pipeline stage are few
  for (int32_t waiter = 0; waiter < index.rank_count(); ++waiter) {
    const Unit* unit = waits.At(waiter);
    if (unit == nullptr || !unit->p2p || waits.Of(waiter).empty()) continue;
    Wait wait = waits.Of(waiter).front();
    if (wait.kind != WaitKind::kNotIssued) continue;
    StringId description = index.GroupOf(*unit).description;
    bool lacks = std::any_of(index.groups.begin(), index.groups.end(), [&](const Group& group) {
      if (group.members.size() > kMostMembers || !Contains(group.members, wait.on)) return false;
      return std::any_of(group.members.begin(), group.members.end(), [&](int32_t twin) {
        return twin != wait.on && LacksOne(index, wait.on, twin, {description, true});
      });
    });
    if (!lacks) continue;
    Cause& cause = causes.emplace_back();
    cause.rule = "flight.p2p_unmatched";
    cause.ranks = {wait.on};
    DescribeWait(index, waits, waiter, cause);
    cause.what =
        fmt::format("left out the other half of {} #{} of rank {} in {}", NameInWords(index, *unit),
                    unit->seq, index.GlobalRank(waiter), GroupInWords(index, index.GroupOf(*unit)));
    cause.confidence = 0.75;
    cause.why =
        "ranks in the same place of the pipeline have issued theirs, and are not ahead otherwise";
    cause.next_step = "Compare the send and receive calls of both ranks at this line.";
    return;
  }
}

namespace {

// Members of the circle that `waiter` waits for: they have not come to its operation, or are held
// up by an older one.
std::vector<int32_t> MissingFrom(const Waits& waits, int32_t waiter,
                                 const std::vector<int32_t>& cycle) {
  std::vector<int32_t> missing;
  for (const Wait& wait : waits.Of(waiter)) {
    if (Contains(cycle, wait.on)) missing.push_back(wait.on);
  }
  return missing;
}

// The rank that one operation lacks while the others of the circle lack several: had that one come,
// nobody would wait. {} when that holds for no rank, or for more than one.
std::vector<int32_t> TheOneThatIsMissing(const Waits& waits, const std::vector<int32_t>& cycle) {
  std::set<int32_t> alone;
  bool several = false;
  std::set<int32_t> asked;  // places; all who wait there lack the same ranks
  for (int32_t waiter : cycle) {
    if (!asked.insert(waits.PlaceOf(waiter)).second) continue;
    std::vector<int32_t> missing = MissingFrom(waits, waiter, cycle);
    if (missing.size() == 1) alone.insert(missing.front());
    several |= missing.size() > 1;
  }
  if (alone.size() != 1 || !several) return {};
  return {alone.begin(), alone.end()};
}

// Ranks of the circle that do what they never did after the same operations, while all others of it
// do what they always do.
std::vector<int32_t> Unusual(const Index& index, const std::vector<int32_t>& cycle) {
  constexpr size_t kMostRanks = 64, kMostPending = 4;
  std::vector<int32_t> unusual;
  if (cycle.size() > kMostRanks) return unusual;
  for (int32_t rank : cycle) {
    const std::vector<int32_t>& pending = index.RankAt(rank).pending;
    bool odd = false, usual = false;
    for (size_t i = 0; i < pending.size() && i < kMostPending; ++i) {
      Habit habit = HabitOf(index, pending[i]);
      odd |= habit == Habit::kNever;
      usual |= habit == Habit::kUsual;
    }
    if (!odd && !usual) return {};
    if (odd) unusual.push_back(rank);
  }
  return unusual.size() < cycle.size() ? unusual : std::vector<int32_t>();
}

// "rank 9 in send #56 of mesh_pp [1, 5, 9, 13], rank 13 in ...".
std::string CircleInWords(const Index& index, const Waits& waits,
                          const std::vector<int32_t>& cycle) {
  constexpr size_t kMostTold = 6;
  std::string chain;
  for (size_t i = 0; i < cycle.size() && i < kMostTold; ++i) {
    chain += fmt::format("{}rank {} in {}", chain.empty() ? "" : ", ", index.GlobalRank(cycle[i]),
                         OperationInWords(index, *waits.At(cycle[i])));
  }
  if (cycle.size() > kMostTold) chain += fmt::format(" and {} more", cycle.size() - kMostTold);
  return chain;
}

// An operation of the circle that `rank` has not come to.
int32_t WaiterFor(const Waits& waits, int32_t rank, const std::vector<int32_t>& cycle) {
  for (int32_t waiter : waits.On(rank)) {
    if (Contains(cycle, waiter)) return waiter;
  }
  return cycle.front();
}

void NameOne(const Index& index, const Waits& waits, const std::vector<int32_t>& cycle,
             const std::vector<int32_t>& ranks, bool by_habit, Cause& cause) {
  int32_t waiter = WaiterFor(waits, ranks.front(), cycle);
  int32_t first = waits.At(ranks.front()) != nullptr ? ranks.front() : waiter;
  cause.ranks = ranks;
  DescribeWait(index, waits, waiter, cause);
  cause.what = fmt::format("{} in {} instead of {}", ranks.size() == 1 ? "waits" : "wait",
                           OpInWords(index, *waits.At(first)), OpInWords(index, *waits.At(waiter)));
  cause.confidence = by_habit ? 0.75 : 0.8;
  cause.why = fmt::format(
      "{} ranks wait for each other; {}", cycle.size(),
      by_habit ? "it does what it never did after the same operations, the others do what they "
                 "always do"
               : "it alone is missing there, and the operation that it is in lacks several");
}

}  // namespace

void AddDeadlock(const Index& index, const Waits& waits, const std::vector<int32_t>& cycle,
                 std::vector<Cause>& causes) {
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.deadlock";
  std::vector<int32_t> missing = TheOneThatIsMissing(waits, cycle);
  std::vector<int32_t> unusual = missing.empty() ? Unusual(index, cycle) : missing;
  if (!unusual.empty()) {
    NameOne(index, waits, cycle, unusual, missing.empty(), cause);
  } else {
    cause.ranks = cycle;
    DescribeWait(index, waits, cycle.front(), cause);
    cause.what = fmt::format("wait for each other: {}", CircleInWords(index, waits, cycle));
    cause.confidence = 0.8;
    cause.why = "each is in an operation that the next has not reached, all the way round";
  }
  for (int32_t rank : cycle) {
    const Unit* unit = waits.At(rank);
    if (unit != nullptr && cause.groups.size() < 8) cause.groups.push_back(unit->group);
  }
  cause.next_step = "Make all ranks issue the operations of these groups in the same order.";
}

}  // namespace debrief::analyses::flight
