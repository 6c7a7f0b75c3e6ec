// Text compares what watchdogs say of works that timed out. Watchdogs report completions late, so a
// rank may seem to have completed what another still waits in. Dumps have the calls themselves:
// where they show that all members made the same one, text is wrong.
#include <algorithm>
#include <set>

#include "analyses/verdict/rules.h"
#include "tables/comm_match.h"

namespace debrief::analyses::verdict {

namespace {

// Did all blamed ranks join the operation that text speaks of, without any difference?
bool AllMadeTheSameCall(const Board& board, const Finding& text) {
  if (text.groups.empty() || text.ranks.empty()) return false;
  const auto& matches = board.model().tables.Get<CommMatchTable>();
  const Pools& pools = board.model().pools;
  for (const size_t i : board.OwnRows(matches)) {
    bool same = matches.seq[i] == text.seq &&
                pools.Text(matches.group_name[i]) == text.groups[0].name &&
                pools.Text(matches.kind[i]) != "p2p";
    if (!same || matches.mismatch[i] != StringId::kNone) continue;
    auto joined = pools.lists.Get(matches.joined[i]);
    return joined.size() > text.ranks.size() &&
           std::all_of(text.ranks.begin(), text.ranks.end(), [&](int32_t rank) {
             return std::binary_search(joined.begin(), joined.end(), int64_t{rank});
           });
  }
  return false;
}

// Ranks that wait for others, by their dumps.
std::set<int32_t> RanksThatWait(const Board& board) {
  std::set<int32_t> waiting;
  for (size_t i : board.Find("flight.waiting"))
    waiting.insert(board.At(i).ranks.begin(), board.At(i).ranks.end());
  return waiting;
}

// A lock that a rank did not get in time, or a watchdog that was late, is a suspicion. A rank that
// is in a collective and waits for others is not the one that holds them up.
void WaitersAreNotStuck(Board& board) {
  std::set<int32_t> waiting = RanksThatWait(board);
  for (size_t stuck : board.FindCauses("text_hang.stuck")) {
    const std::vector<int32_t>& said = board.At(stuck).ranks;
    bool all = !said.empty() && std::all_of(said.begin(), said.end(),
                                            [&](int32_t rank) { return waiting.contains(rank); });
    if (!all) continue;
    board.Lower(stuck, "its dump shows it waiting for others");
    board.At(stuck).severity = Severity::kInfo;
  }
}

}  // namespace

void DumpsRefuteText(Board& board) {
  WaitersAreNotStuck(board);
  for (size_t text : board.FindCauses("text_hang.differs")) {
    if (!AllMadeTheSameCall(board, board.At(text))) continue;
    board.Lower(text, "dumps show that all members made the same call");
    board.At(text).severity = Severity::kInfo;
  }
}

}  // namespace debrief::analyses::verdict
