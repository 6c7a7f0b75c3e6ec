// Causes that show only in who waits for whom: the ranks at the end of every chain.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "analyses/flight/cause.h"
#include "analyses/flight/waits/describe.h"
#include "analyses/flight/waits/waits.h"
#include "analyses/flight/words.h"
#include "base/text/rank_list.h"
#include "tables/text_event.h"

namespace debrief::analyses::flight {

namespace {

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
// (or ran out of work). Those that stopped first are left. A rank that has issued one operation
// does not tell how long one takes.
std::vector<int32_t> FirstToStop(const Index& index, const std::vector<int32_t>& ranks) {
  constexpr int64_t kManyOps = 16;
  std::optional<int64_t> earliest;
  int64_t gap = 0;
  for (int32_t rank : ranks) {
    auto last = LastActivity(index, rank);
    if (!last || index.UnitsOf(rank).size() < 2) return ranks;
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
    if (!waits.IsAwaited(rank) || !waits.Of(rank).empty()) continue;
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

// Several ranks stopped after the same operation: they are likely together in something that leaves
// no entry. The set-up of a communicator is recorded by none of its members and waits for all of
// them; so are collectives of other backends, and a file system that a host shares.
bool StoppedTogether(const Index& index, const std::vector<int32_t>& ranks) {
  if (ranks.size() < 2) return false;
  const Unit* first = nullptr;
  for (int32_t rank : ranks) {
    auto units = index.UnitsOf(rank);
    if (units.empty()) return false;
    const Unit& last = units.back();
    if (first == nullptr) first = &last;
    if (last.group != first->group || last.seq != first->seq || last.p2p) return false;
  }
  return true;
}

// Nobody is blamed: one of those who wait may be the one that the others set up their group with.
void AddStoppedTogether(const Index& index, const Waits& waits, const std::vector<int32_t>& ranks,
                        std::vector<Cause>& causes) {
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.stopped_together";
  int32_t waiter = FirstWaiter(index, waits, ranks);
  DescribeWait(index, waits, waiter, cause);
  for (int32_t rank : ranks) cause.units.push_back(index.RankAt(rank).last_unit - 1);
  cause.what = fmt::format(
      "{} stopped together and did not reach {}; {}", RanksAsSubject(GlobalRanks(index, ranks)),
      OperationInWords(index, *waits.At(waiter)), WaitersInWords(index, waits, ranks));
  cause.confidence = 0.5;
  cause.why =
      "after the same last operation their dumps show nothing more, as in the set-up of a group, "
      "which is not recorded; it waits for all members of the group, and one of them may be among "
      "the ranks that wait here; another backend, or a host that hangs, looks the same";
  std::vector<int32_t> others = GlobalRanks(index, waits.Behind(ranks));
  const std::string after = SiteInWords(index, index.UnitAt(cause.units.back()));
  const std::string member =
      others.size() == 1 ? fmt::format("is {} a member of it and does", RanksInWords(others))
                         : fmt::format("does a member of it among {}", RanksInWords(others));
  cause.next_step = fmt::format(
      "Find the group that {} use first{} (new_group, init_device_mesh): {} not take part? Stacks "
      "(py-spy) or NCCL_DEBUG=INFO show who is in its set-up.",
      RanksInWords(GlobalRanks(index, ranks)), after.empty() ? "" : " after " + after, member);
}

void AddHostNeverCame(const Index& index, const Waits& waits, const std::vector<int32_t>& idle,
                      std::vector<Cause>& causes) {
  std::vector<int32_t> ranks = FirstToStop(index, idle);
  if (StoppedTogether(index, ranks)) return AddStoppedTogether(index, waits, ranks, causes);
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.host_never_came";
  cause.ranks = std::move(ranks);
  int32_t waiter = FirstWaiter(index, waits, cause.ranks);
  DescribeWait(index, waits, waiter, cause);
  const Unit& awaited = *waits.At(waiter);
  const std::vector<int32_t>& members = index.GroupOf(awaited).members;
  const bool all_belong = std::ranges::all_of(
      cause.ranks, [&](int32_t rank) { return std::ranges::binary_search(members, rank); });
  const std::string_view side = awaited.p2p && cause.ranks.size() == 1 ? "its side of " : "";
  cause.what = fmt::format(
      "did not reach {}{}; {}", all_belong ? side : "their collectives, first ",
      OperationInWords(index, awaited), WaitersInOpInWords(index, waits, awaited, cause.ranks));
  const bool is_one = cause.ranks.size() == 1;
  cause.why = is_one ? "none of its operations is pending, so it runs code on the CPU"
                     : "none of their operations is pending, so they run code on the CPU";
  cause.next_step = fmt::format(
      "Look at what {} on the CPU before that call: a compilation, a data loader, a checkpoint, a "
      "lock. Take {} (py-spy dump).",
      is_one ? "its process does" : "their processes do",
      is_one ? "its stack while it hangs" : "their stacks while they hang");
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

std::vector<int32_t> WithoutDump(const Index& index) {
  std::vector<int32_t> without;
  for (int32_t rank = 0; rank < index.rank_count(); ++rank) {
    if (!index.RankAt(rank).has_dump) without.push_back(rank);
  }
  return without;
}

// Several ranks left no dump. Where a launcher ends all as soon as one died, few live long enough
// to write theirs: who is missing tells nothing then. A few missing among many, or those of one
// host, do.
bool TellsWhoIsMissing(const Index& index, const std::vector<int32_t>& missing) {
  constexpr size_t kFew = 4;  // a quarter of all
  if (Silent(index, WithoutDump(index)) != missing) return false;
  if (missing.size() == 1) return true;
  bool host = missing.size() >= 4 &&
              static_cast<size_t>(missing.back() - missing.front()) + 1 == missing.size();
  return host && missing.size() * kFew <= index.ranks.size();
}

void AddNoDump(const Index& index, const Waits& waits, const std::vector<int32_t>& ranks,
               std::vector<Cause>& causes) {
  std::vector<int32_t> missing = Silent(index, ranks);
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.no_dump";
  int32_t waiter = FirstWaiter(index, waits, missing);
  DescribeWait(index, waits, waiter, cause);
  std::string waiting = fmt::format("{} for it, first in {}", WaitersInWords(index, waits, missing),
                                    OperationInWords(index, *waits.At(waiter)));
  cause.next_step =
      "Look at the end of its output: a process that died before it could dump is usually the "
      "cause.";
  if (TellsWhoIsMissing(index, missing)) {
    cause.ranks = missing;
    cause.what = fmt::format("left no dump, and {}", waiting);
    cause.confidence = missing.size() == 1 ? 0.8 : 0.6;
    cause.why = "every other rank that is waited for left a dump, which shows it waiting too";
    return;
  }
  std::vector<int32_t> behind = GlobalRanks(index, waits.Behind(missing));
  std::vector<int32_t> without = WithoutDump(index);
  cause.what =
      fmt::format("{} of {} ranks left no dump; {} {}{} in {}", without.size(), index.ranks.size(),
                  RanksInWords(behind), behind.size() == 1 ? "waits" : "wait",
                  missing.size() == 1 ? " for " + RanksInWords(GlobalRanks(index, missing)) : "",
                  OperationInWords(index, *waits.At(waiter)));
  cause.confidence = 0.5;
  cause.why = fmt::format(
      "dumps of {} are missing, too many to tell which of them is the cause: it looks like this "
      "when a launcher ends all ranks after the first death",
      RanksInWords(GlobalRanks(index, without)));
  cause.next_step =
      "Look at the launcher's text and at the end of each rank's output: who died first?";
}

// A dump that is there and does not tell where its rank was.
struct Unclear {
  std::string_view how;  // behind the operation that others are in
  double confidence;
  std::string_view why;
  std::string_view next_step;
};

constexpr Unclear kCut = {", as far as its cut dump shows", 0.5,
                          "its own dump is cut and does not show where it was",
                          "Copy its dump again; if that is all there is, look at its output."};
constexpr Unclear kUnread = {"; its dump could not be read", 0.4,
                             "its own dump is there and could not be read",
                             "Make its dump readable (see the diagnostics) and run again."};

void AddUnclearDump(const Index& index, const Waits& waits, const std::vector<int32_t>& ranks,
                    const Unclear& dump, std::vector<Cause>& causes) {
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.host_never_came";
  cause.ranks = ranks;
  int32_t waiter = FirstWaiter(index, waits, ranks);
  DescribeWait(index, waits, waiter, cause);
  cause.what =
      fmt::format("is waited for in {}{}", OperationInWords(index, *waits.At(waiter)), dump.how);
  cause.confidence = dump.confidence;
  cause.why =
      fmt::format("all other ranks that are waited for are waiting themselves; {}", dump.why);
  cause.next_step = dump.next_step;
}

// Circles from which no chain leads to a rank that is idle, gone or cut: they would hang without
// those, too.
std::vector<std::vector<int32_t>> OwnCircles(const Waits& waits, const Ends& ends) {
  std::vector<int32_t> others = ends.idle;
  others.insert(others.end(), ends.no_dump.begin(), ends.no_dump.end());
  others.insert(others.end(), ends.cut.begin(), ends.cut.end());
  std::vector<int32_t> behind = waits.Behind(others);
  std::vector<std::vector<int32_t>> circles = waits.Cycles();
  std::erase_if(circles, [&](const std::vector<int32_t>& circle) {
    return std::any_of(circle.begin(), circle.end(),
                       [&](int32_t rank) { return Contains(behind, rank); });
  });
  return circles;
}

}  // namespace

// What a chain of waits ends in is the cause. A circle that hangs by itself comes first: a rank
// that others wait for, and that has nothing to do, may have stopped because of it.
void FindWaitCauses(const Index& index, const Waits& waits, std::vector<Cause>& causes) {
  Ends ends = FindEnds(index, waits);
  size_t before = causes.size();
  auto found = [&] { return causes.size() > before; };
  AddUnmatched(index, waits, causes);
  std::vector<std::vector<int32_t>> circles;
  if (!found()) circles = OwnCircles(waits, ends);
  if (!circles.empty()) AddSkipped(index, waits, causes);
  if (!found() && !circles.empty()) AddBrokenExchange(index, waits, causes);
  if (!found() && (!circles.empty() || ends.idle.size() == 1)) AddLeftOutHalf(index, waits, causes);
  if (!found()) {
    for (const auto& circle : circles) AddDeadlock(index, waits, circle, causes);
  }
  if (!found() && !ends.idle.empty()) AddHostNeverCame(index, waits, ends.idle, causes);
  if (!found()) AddSkipped(index, waits, causes);
  if (!found() && !ends.no_dump.empty()) AddNoDump(index, waits, ends.no_dump, causes);
  if (!found() && !ends.cut.empty()) AddUnclearDump(index, waits, ends.cut, kCut, causes);
  if (!found() && !ends.unread.empty()) AddUnclearDump(index, waits, ends.unread, kUnread, causes);
  if (!found()) AddBrokenExchange(index, waits, causes);
  if (found()) return;
  for (const auto& cycle : waits.Cycles()) AddDeadlock(index, waits, cycle, causes);
  if (!found()) FindHangs(index, waits, causes);
}

}  // namespace debrief::analyses::flight
