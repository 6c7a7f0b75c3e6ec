// Text compares what watchdogs say of works that timed out. Watchdogs report completions late, so a
// rank may seem to have completed what another still waits in. Dumps have the calls themselves:
// where they show that all members made the same one, text is wrong.
#include <algorithm>

#include "analyses/verdict/rules.h"
#include "tables/comm_match.h"

namespace debrief::analyses::verdict {

namespace {

// Did all blamed ranks join the operation that text speaks of, without any difference?
bool AllMadeTheSameCall(const Board& board, const Finding& text) {
  if (text.groups.empty() || text.ranks.empty()) return false;
  const auto& matches = board.model().tables.Get<CommMatchTable>();
  const Pools& pools = board.model().pools;
  for (size_t i = 0; i < matches.size(); ++i) {
    bool same = board.IsOurs(matches, i) && matches.seq[i] == text.seq &&
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

}  // namespace

void DumpsRefuteText(Board& board) {
  for (size_t text : board.FindCauses("text_hang.differs")) {
    if (!AllMadeTheSameCall(board, board.At(text))) continue;
    board.Lower(text, "dumps show that all members made the same call");
    board.At(text).severity = Severity::kInfo;
  }
}

}  // namespace debrief::analyses::verdict
