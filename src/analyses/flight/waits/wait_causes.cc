// Causes that show only in who waits for whom: the ranks at the end of every chain, ranks that went
// past an operation their peers are in, and circles.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "analyses/flight/cause.h"
#include "analyses/flight/waits/waits.h"
#include "analyses/flight/words.h"
#include "base/text/rank_list.h"
#include "tables/comm_group.h"
#include "tables/text_event.h"

namespace debrief::analyses::flight {

namespace {

// Fills in what the headline says about the operation that `waiter` is in.
void Describe(const Index& index, const Waits& waits, int32_t waiter, Cause& cause) {
  const Unit& unit = *waits.At(waiter);
  cause.groups = {unit.group};
  cause.seq = unit.seq;
  cause.op = std::string(index.OpName(unit));
  cause.units.push_back(static_cast<int32_t>(&unit - index.units.data()));
}

// Who began to wait for these ranks first: what it is in is the first operation they are missing
// from.
int32_t FirstWaiter(const Index& index, const Waits& waits, const std::vector<int32_t>& blamed) {
  int32_t first = waits.On(blamed.front()).front();
  auto since = [&](int32_t rank) { return index.ops.created_ns[waits.At(rank)->row]; };
  for (int32_t rank : blamed) {
    for (int32_t waiter : waits.On(rank)) {
      if (since(waiter) < since(first)) first = waiter;
    }
  }
  return first;
}

std::string OperationInWords(const Index& index, const Unit& unit) {
  std::string site = SiteInWords(index, unit);
  return OpInWords(index, unit) + (site.empty() ? "" : fmt::format(" ({})", site));
}

std::string WaitersInWords(const Index& index, const Waits& waits,
                           const std::vector<int32_t>& blamed) {
  std::vector<int32_t> ranks = GlobalRanks(index, waits.Behind(blamed));
  return fmt::format("{} {}", RanksInWords(ranks), ranks.size() == 1 ? "waits" : "wait");
}

// When a rank last issued anything; nothing when its dump has no entries or does not tell.
std::optional<int64_t> LastActivity(const Index& index, int32_t rank) {
  auto units = index.UnitsOf(rank);
  if (units.empty()) return std::nullopt;
  int64_t time = index.ops.created_ns[units.back().row];
  return time == kNone64 ? std::nullopt : std::optional(time);
}

// The time between two operations of a rank, `times` over; 0 when its clock makes no sense.
int64_t TimeOfOps(const Index& index, int32_t rank, int64_t times) {
  auto units = index.UnitsOf(rank);
  int64_t first = index.ops.created_ns[units.front().row];
  int64_t last = index.ops.created_ns[units.back().row];
  int64_t gap = 0;
  if (first == kNone64 || __builtin_sub_overflow(last, first, &gap)) return 0;
  gap /= static_cast<int64_t>(units.size());
  return gap < 0 || __builtin_mul_overflow(gap, times, &gap) ? 0 : gap;
}

// A rank that stopped later than another by many of its own operations stopped because of that one
// (or ran out of work). Those that stopped first are left.
std::vector<int32_t> FirstToStop(const Index& index, const std::vector<int32_t>& ranks) {
  constexpr int64_t kManyOps = 16;
  std::optional<int64_t> earliest;
  int64_t gap = 0;
  for (int32_t rank : ranks) {
    auto last = LastActivity(index, rank);
    if (!last) return ranks;
    if (earliest && *last >= *earliest) continue;
    earliest = last;
    gap = TimeOfOps(index, rank, kManyOps);
  }
  int64_t limit = 0;
  if (__builtin_add_overflow(*earliest, gap, &limit)) return ranks;
  std::vector<int32_t> first;
  for (int32_t rank : ranks) {
    if (*LastActivity(index, rank) <= limit) first.push_back(rank);
  }
  return first;
}

// Ranks that others wait for and that wait for nobody.
struct Ends {
  std::vector<int32_t> idle;  // have a whole dump and no work: the host never came
  std::vector<int32_t> no_dump;
  std::vector<int32_t> unread;  // left a dump that we could not read
  std::vector<int32_t> cut;     // idle as far as their cut dump tells
  std::vector<int32_t> stuck;   // in an operation that everybody joined
};

Ends FindEnds(const Index& index, const Waits& waits) {
  Ends ends;
  for (int32_t rank = 0; rank < index.rank_count(); ++rank) {
    const RankInfo& info = index.RankAt(rank);
    if (waits.On(rank).empty() || !waits.Of(rank).empty()) continue;
    if (!info.has_dump) {
      (info.unread ? ends.unread : ends.no_dump).push_back(rank);
    } else if (!info.whole) {
      ends.cut.push_back(rank);
    } else {
      (info.pending.empty() ? ends.idle : ends.stuck).push_back(rank);
    }
  }
  return ends;
}

void AddHostNeverCame(const Index& index, const Waits& waits, const std::vector<int32_t>& ranks,
                      std::vector<Cause>& causes) {
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.host_never_came";
  cause.ranks = FirstToStop(index, ranks);
  int32_t waiter = FirstWaiter(index, waits, cause.ranks);
  Describe(index, waits, waiter, cause);
  cause.what = fmt::format("never came to {}; {}", OperationInWords(index, *waits.At(waiter)),
                           WaitersInWords(index, waits, cause.ranks));
  cause.why = "all it issued is completed, and it waits for nobody";
  cause.next_step =
      "Look at what its host was doing: its stack (py-spy), a compilation, a data loader, a "
      "checkpoint.";
}

// Ranks whose watchdog spoke were alive and waiting; when others said nothing, those are left.
std::vector<int32_t> Silent(const Index& index, const std::vector<int32_t>& ranks) {
  const auto& events = index.model.tables.Get<TextEventTable>();
  std::set<int32_t> spoke;
  for (size_t i = 0; i < events.size(); ++i) {
    bool ours = events.job[i] == index.job && events.attempt[i] == index.attempt;
    if (ours && index.Text(events.kind[i]).starts_with("watchdog")) spoke.insert(events.rank[i]);
  }
  std::vector<int32_t> silent;
  for (int32_t rank : ranks) {
    if (!spoke.contains(index.GlobalRank(rank))) silent.push_back(rank);
  }
  return silent.empty() ? ranks : silent;
}

void AddNoDump(const Index& index, const Waits& waits, const std::vector<int32_t>& ranks,
               std::vector<Cause>& causes) {
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.no_dump";
  cause.ranks = Silent(index, ranks);
  int32_t waiter = FirstWaiter(index, waits, cause.ranks);
  Describe(index, waits, waiter, cause);
  cause.what = fmt::format("left no dump, and {} for it, first in {}",
                           WaitersInWords(index, waits, cause.ranks),
                           OperationInWords(index, *waits.At(waiter)));
  cause.confidence = 0.8;
  cause.why = "everybody else who is waited for has a dump that shows it waiting in turn";
  cause.next_step =
      "Look at the end of its output: a process that died before it could dump is usually the "
      "cause.";
}

void AddCutDump(const Index& index, const Waits& waits, const std::vector<int32_t>& ranks,
                std::vector<Cause>& causes) {
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.host_never_came";
  cause.ranks = ranks;
  int32_t waiter = FirstWaiter(index, waits, ranks);
  Describe(index, waits, waiter, cause);
  cause.what = fmt::format("is waited for in {}, as far as its cut dump tells",
                           OperationInWords(index, *waits.At(waiter)));
  cause.confidence = 0.5;
  cause.why =
      "all others who are waited for wait in turn; its own dump is cut and cannot tell where it "
      "was";
  cause.next_step = "Copy its dump again; if that is all there is, look at its output.";
}

void AddUnreadDump(const Index& index, const Waits& waits, const std::vector<int32_t>& ranks,
                   std::vector<Cause>& causes) {
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.host_never_came";
  cause.ranks = ranks;
  int32_t waiter = FirstWaiter(index, waits, ranks);
  Describe(index, waits, waiter, cause);
  cause.what = fmt::format("is waited for in {}; its dump could not be read",
                           OperationInWords(index, *waits.At(waiter)));
  cause.confidence = 0.4;
  cause.why =
      "all others who are waited for wait in turn; its own dump is there and could not be read";
  cause.next_step = "Make its dump readable (see the diagnostics) and run again.";
}

bool Contains(const std::vector<int32_t>& sorted, int32_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

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

// A rank that others wait for, that is itself at work elsewhere, and that went past what they are
// in.
void AddSkipped(const Index& index, const Waits& waits, std::vector<Cause>& causes) {
  std::map<int32_t, std::pair<int32_t, int32_t>>
      votes;  // rank -> how many say so, and one who does
  for (int32_t waiter = 0; waiter < index.rank_count(); ++waiter) {
    const Unit* unit = waits.At(waiter);
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
  Describe(index, waits, most->second.second, cause);
  cause.what = fmt::format("skipped {} and went on",
                           OperationInWords(index, *waits.At(most->second.second)));
  cause.confidence = 0.8;
  cause.why = "it has issued operations that its peers issued only after this one";
  cause.next_step = "Look for a condition around this line that differs between ranks.";
}

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
    Describe(index, waits, waiter, cause);
    cause.what =
        fmt::format("left out the other half of {} {} of rank {} in {}", index.OpName(*unit),
                    unit->seq, index.GlobalRank(waiter), GroupInWords(index, index.GroupOf(*unit)));
    cause.confidence = 0.75;
    cause.why =
        "ranks in the same place of the pipeline have issued theirs, and are not ahead otherwise";
    cause.next_step = "Compare the send and receive calls of both ranks at this line.";
    return;
  }
}

void AddDeadlock(const Index& index, const Waits& waits, const std::vector<int32_t>& cycle,
                 std::vector<Cause>& causes) {
  constexpr size_t kMostTold = 6;
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.deadlock";
  cause.ranks = cycle;
  Describe(index, waits, cycle.front(), cause);
  std::string chain;
  for (size_t i = 0; i < cycle.size() && i < kMostTold; ++i) {
    const Unit& unit = *waits.At(cycle[i]);
    cause.groups.push_back(unit.group);
    chain += fmt::format("{}rank {} in {}", chain.empty() ? "" : ", ", index.GlobalRank(cycle[i]),
                         OperationInWords(index, unit));
  }
  if (cycle.size() > kMostTold) chain += fmt::format(" and {} more", cycle.size() - kMostTold);
  cause.what = fmt::format("wait for each other: {}", chain);
  cause.confidence = 0.8;
  cause.why = "each is in an operation that the next has not reached, all the way round";
  cause.next_step = "Make all ranks issue the operations of these groups in the same order.";
}

// All members joined, none completes. Healthy dumps are taken in the middle of work, too, so this
// needs proof that it hangs: a time limit that has passed, or a watchdog that says so.
bool HasTimedOut(const Index& index, const Unit& unit) {
  size_t row = unit.row;
  if (index.ops.retired[row] != 0) return true;
  const auto& events = index.model.tables.Get<TextEventTable>();
  int32_t rank = index.GlobalRank(unit.rank);
  for (size_t i = 0; i < events.size(); ++i) {
    bool ours =
        events.job[i] == index.job && events.attempt[i] == index.attempt && events.rank[i] == rank;
    if (ours && index.Text(events.kind[i]) == "watchdog_timeout") return true;
  }
  return false;
}

void AddHang(const Index& index, const Waits& waits, std::vector<Cause>& causes) {
  for (int32_t rank = 0; rank < index.rank_count(); ++rank) {
    const Unit* unit = waits.At(rank);
    if (unit == nullptr || !waits.Of(rank).empty() || !HasTimedOut(index, *unit)) continue;
    Cause& cause = causes.emplace_back();
    cause.rule = "flight.gpu_or_network_hang";
    cause.ranks = index.GroupOf(*unit).members;
    if (unit->p2p) cause.ranks = {rank};
    if (unit->p2p && unit->partner >= 0 && unit->partner != rank)
      cause.ranks = {std::min(rank, unit->partner), std::max(rank, unit->partner)};
    Describe(index, waits, rank, cause);
    cause.what = fmt::format("all joined {} and none completes it", OperationInWords(index, *unit));
    cause.confidence = 0.6;
    cause.why = "sizes and types agree and everybody is there: the kernel, the link or a GPU hangs";
    cause.next_step =
        "Check the GPUs and links of these ranks (nvidia-smi, Xid errors, NCCL_DEBUG=INFO).";
    return;
  }
}

}  // namespace

void FindWaitCauses(const Index& index, const Waits& waits, std::vector<Cause>& causes) {
  Ends ends = FindEnds(index, waits);
  size_t before = causes.size();
  AddUnmatched(index, waits, causes);
  if (causes.size() == before && !ends.idle.empty()) {
    AddHostNeverCame(index, waits, ends.idle, causes);
  }
  if (causes.size() == before) AddSkipped(index, waits, causes);
  if (causes.size() == before && !ends.no_dump.empty())
    AddNoDump(index, waits, ends.no_dump, causes);
  if (causes.size() == before && !ends.cut.empty()) AddCutDump(index, waits, ends.cut, causes);
  if (causes.size() == before && !ends.unread.empty())
    AddUnreadDump(index, waits, ends.unread, causes);
  if (causes.size() > before) return;
  for (const auto& cycle : waits.Cycles()) AddDeadlock(index, waits, cycle, causes);
  if (causes.size() == before) AddHang(index, waits, causes);
}

namespace {

// The groups in other dumps that name a rank: what shows that there was one.
void AddMembership(const Index& index, Cause& cause) {
  constexpr size_t kMostRows = 8;
  const auto& groups = index.model.tables.Get<CommGroupTable>();
  std::vector<int64_t> rows;
  for (size_t i = 0; i < groups.size() && rows.size() < kMostRows; ++i) {
    bool ours = groups.job[i] == index.job && groups.attempt[i] == index.attempt;
    if (!ours || groups.members[i] == ListId::kNone) continue;
    std::span<const int64_t> members = index.model.pools.lists.Get(groups.members[i]);
    bool named = std::any_of(cause.ranks.begin(), cause.ranks.end(), [&](int32_t rank) {
      return std::binary_search(members.begin(), members.end(), index.GlobalRank(rank));
    });
    if (named) rows.push_back(static_cast<int64_t>(i));
  }
  if (!rows.empty())
    cause.evidence.push_back({"groups of other ranks that name it", "comm_group", std::move(rows)});
}

}  // namespace

// Nobody waits for it, but the picture lacks it.
void FindMissingDumps(const Index& index, std::vector<Cause>& causes) {
  Cause cause;
  for (int32_t rank = 0; rank < index.rank_count(); ++rank) {
    const RankInfo& info = index.RankAt(rank);
    if (!info.has_dump && !info.unread) cause.ranks.push_back(rank);
  }
  bool told = std::any_of(causes.begin(), causes.end(), [&](const Cause& other) {
    return other.rule == "flight.no_dump" && other.ranks == cause.ranks;
  });
  if (cause.ranks.empty() || cause.ranks.size() == index.ranks.size() || told) return;
  cause.rule = "flight.no_dump";
  cause.severity = Severity::kWarning;
  cause.what = fmt::format("left no dump, the other {} ranks of the job did",
                           index.ranks.size() - cause.ranks.size());
  cause.confidence = 1;
  cause.why = "groups of the other dumps name it as a member";
  AddMembership(index, cause);
  cause.next_step = "Look for its dump on its host; verdicts are surer with it.";
  causes.push_back(std::move(cause));
}

}  // namespace debrief::analyses::flight
