#include "outputs/terminal/flight_text/regions.h"

#include <fmt/format.h>

#include <algorithm>

#include "outputs/terminal/flight_text/tabulate.h"

namespace debrief::outputs::flight_text {

namespace {

// Rank and what is left of its region; ranks leave when they come first and have nothing left.
using Left = std::vector<std::pair<int32_t, Pending>>;

int32_t NumberOf(const Entry& entry) { return entry.is_p2p ? entry.p2p_seq : entry.collective_seq; }

std::string GlobalText(const DumpGroup& group, int32_t rank) {
  return rank == kNone32 ? "None" : std::to_string(group.ranks[static_cast<size_t>(rank)]);
}

// The other end of a send or receive that `rank` issued; none when there is none, or when it is
// rank 0, which the analyzer takes for none.
Result<int32_t> PeerOf(const Entry& entry, int32_t rank, const DumpGroup& group) {
  TRY(CheckEntry(entry, group.ranks.size()));
  if (!IsP2p(entry.op)) return kNone32;
  bool send = entry.op == "send";
  std::string mine = GlobalText(group, send ? entry.src : entry.dst);
  if (mine != std::to_string(rank)) {
    return PythonError("AssertionError", fmt::format("{} error: {} expected but {} is set",
                                                     send ? "Send src" : "Recv dst", rank, mine));
  }
  int32_t peer = send ? entry.dst : entry.src;
  return peer == kNone32 ? kNone32 : group.ranks[static_cast<size_t>(peer)];
}

// The table of a region, a column a rank. The analyzer mistakes the position of an entry for a rank
// and leaves cells empty where there is no such rank in the group.
Status WriteRegionTable(bool match, const Region& region, const Context& context) {
  Rows rows;
  size_t most = 0;
  for (const auto& [rank, entries] : region) most = std::max(most, entries.size());
  for (size_t i = 0; i <= most; ++i) {
    std::vector<Cell>& row = rows.emplace_back(region.size());
    for (size_t column = 0; column < region.size(); ++column) {
      const RegionEntries& entries = region[column].second;
      if (i >= entries.size()) continue;
      const auto& [position, entry] = entries[i];
      auto group = context.dumps.group_of.find({entry->group_name, static_cast<int32_t>(position)});
      if (group == context.dumps.group_of.end()) continue;
      ASSIGN_OR_RETURN(row[column],
                       EntryText(*entry, context.Group(group->second), context.log.verbose()));
    }
  }
  context.log.Info(match ? "Match \n" : "MISMATCH \n");
  context.log.Info(Tabulate({}, rows));
  return {};
}

Pending* ListOf(Left& left, int32_t rank) {
  auto found =
      std::find_if(left.begin(), left.end(), [&](auto& item) { return item.first == rank; });
  return found == left.end() ? nullptr : &found->second;
}

// Position in `peers` of the entry that fits to `op`, or -1. Entries that go the other way may
// stand between; entries of the same way must come in order.
Result<int64_t> FindPeer(const Entry& op, const Pending& peers, size_t group_size) {
  for (size_t i = 0; i < peers.size(); ++i) {
    ASSIGN_OR_RETURN(MatchInfo info, Match(op, *peers[i], group_size));
    if (info.state == MatchState::kFullyMatched) return static_cast<int64_t>(i);
    if (!IsP2p(peers[i]->op)) return PythonError("AssertionError", "can't get src of non-p2p op");
    if (op.dst == peers[i]->src) return -1;
  }
  return -1;
}

Result<bool> MatchSends(Left left, const DumpGroup& group, bool before_2_7) {
  while (!left.empty()) {
    Pending& mine = left.front().second;
    if (mine.empty()) {
      left.erase(left.begin());
      continue;
    }
    const Entry& op = *mine.front();
    if (!IsP2p(op.op)) {
      return before_2_7 ? PythonError("NotImplementedError", "coalesced collective ops")
                        : PythonError("AssertionError", "can't get dst of non-p2p op");
    }
    int32_t receiver = group.ranks[static_cast<size_t>(op.dst)];
    Pending* peers = ListOf(left, receiver);
    if (peers == nullptr) return PythonError("KeyError", std::to_string(receiver));
    ASSIGN_OR_RETURN(int64_t at, FindPeer(op, *peers, group.ranks.size()));
    if (at < 0) return false;
    mine.pop_front();
    if (static_cast<size_t>(at) >= peers->size())
      return PythonError("IndexError", "pop index out of range");
    peers->erase(peers->begin() + at);
  }
  return true;
}

// Entry by entry, as if the region were all there is.
Result<bool> MatchCollectives(const Left& region, Context& context, Step& step) {
  Lists lists(region.begin(), region.end());
  for (const auto& [rank, entries] : region) {
    while (!lists[rank].empty()) {
      Entry current = *lists[rank].front();
      step.Restart(current, rank);
      TRY(Compare(lists, context, step));
      TRY(Decide(lists, context, step));
      if (!step.AllFound(context)) {
        context.log.Debug("Non-matching collective inside coalesced group");
        AddFailed(lists, step.PositionsOf(step.candidates, step.candidate_at), context, step);
        return false;
      }
      for (auto [found, at] : step.PositionsOf(step.found, step.found_at)) {
        Pending& list = lists[found];
        if (at >= list.size()) return PythonError("IndexError", "pop index out of range");
        list.erase(list.begin() + static_cast<ptrdiff_t>(at));
      }
    }
  }
  return true;
}

Result<bool> MatchSendsAndSay(const Region& region, const Left& left, Context& context,
                              const Step& step) {
  ASSIGN_OR_RETURN(bool match, MatchSends(left, context.Group(step.group), context.before_2_7));
  TRY(WriteRegionTable(match, region, context));
  return match;
}

}  // namespace

Result<RegionEntries> FindRegion(int32_t group, const Pending& list, int32_t rank,
                                 const Context& context) {
  RegionEntries region;
  int32_t number = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const Entry& entry = *list[i];
    TRY(CheckGroup(entry, rank));
    if (entry.group != group) continue;
    if (region.empty()) number = NumberOf(entry);
    if (NumberOf(entry) != number) break;
    region.emplace_back(i, &entry);
  }
  if (region.size() < 2) return RegionEntries();
  const Entry& last = *region.back().second;
  if (context.before_2_7) {
    if (last.backend == "nccl" && last.op == "coalesced") return region;
    return PythonError("AssertionError", "");
  }
  if (last.backend == "nccl" && !last.op.ends_with("_coalesced"))
    context.log.Info(fmt::format("Rank {} does not have a coalesced end.", rank));
  return region;
}

Result<Region> GatherRegion(const Lists& lists, const Context& context, const Step& step) {
  const DumpGroup& group = context.Group(step.group);
  PythonSet todo(step.about.expected.Items());
  PythonSet done;
  Region region;
  while (!todo.empty()) {
    int32_t rank = todo.Pop();
    done.Add(rank);
    region.emplace_back(rank, RegionEntries());
    auto list = lists.find(rank);
    if (list == lists.end()) continue;
    ASSIGN_OR_RETURN(region.back().second, FindRegion(step.group, list->second, rank, context));
    for (const auto& [position, entry] : region.back().second) {
      ASSIGN_OR_RETURN(int32_t peer, PeerOf(*entry, rank, group));
      if (peer > 0 && !done.Has(peer)) todo.Add(peer);
    }
  }
  return region;
}

Result<bool> MatchRegion(const Region& region, Context& context, Step& step) {
  Left left;
  bool p2p = false;
  for (const auto& [rank, entries] : region) {
    left.emplace_back(rank, Pending());
    for (const auto& [position, entry] : entries) {
      TRY(CheckEntry(*entry, context.Group(step.group).ranks.size()));
      left.back().second.push_back(entry);
      p2p |= IsP2p(entry->op);
    }
  }
  for (auto& [rank, list] : left) {
    if (list.empty() && context.before_2_7) return false;
    if (list.empty()) context.log.Info(fmt::format("Rank {} has an empty op list.", rank));
    if (list.empty()) continue;
    bool ends = list.back()->op == "coalesced";
    if (context.before_2_7 && !ends) return PythonError("AssertionError", "");
    if (ends && (p2p || context.before_2_7)) list.pop_back();
  }
  if (p2p || context.before_2_7) return MatchSendsAndSay(region, left, context, step);
  return MatchCollectives(left, context, step);
}

}  // namespace debrief::outputs::flight_text
