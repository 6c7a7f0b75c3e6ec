// torchft: a replica group that died, was started again and took part in the job again did not fail
// the job.
#include <map>

#include "analyses/verdict/rules.h"
#include "tables/process_exit.h"
#include "tables/replica_event.h"
#include "tables/text_event.h"

namespace debrief::analyses::verdict {

namespace {

// By input: the line with which the last start of its replica group begins, where there were
// several.
std::map<int32_t, int64_t> LastStarts(const Board& board) {
  const auto& events = board.model().tables.Get<ReplicaEventTable>();
  std::map<int32_t, StringId> lives;
  std::map<int32_t, int64_t> starts;
  for (const size_t i : board.OwnRows(events)) {
    if (events.life[i] == StringId::kNone) continue;
    const auto [known, is_new] = lives.try_emplace(events.input[i], events.life[i]);
    if (is_new || known->second == events.life[i]) continue;
    known->second = events.life[i];
    starts[events.input[i]] = events.line[i];
  }
  return starts;
}

// An end after the last start is one that it did not come back from.
void ForgetDeadOnes(const Board& board, std::map<int32_t, int64_t>& starts) {
  const auto& exits = board.model().tables.Get<ProcessExitTable>();
  for (const size_t i : board.OwnRows(exits)) {
    const auto start = starts.find(exits.input[i]);
    if (start == starts.end()) continue;
    const bool ended_well = exits.exit_code[i] == 0;
    if (!ended_well && exits.line[i] > start->second) starts.erase(start);
  }
}

// Rows of one table that a finding rests on; `before` counts those before the last start.
template <typename Table>
void CountRows(const Board& board, const Finding& finding, const std::map<int32_t, int64_t>& starts,
               size_t& all, size_t& before) {
  const auto& table = board.model().tables.Get<Table>();
  for (const size_t row : RowsOf(finding, Table::kName)) {
    if (row >= table.size()) continue;
    ++all;
    const auto start = starts.find(table.input[row]);
    if (start != starts.end() && table.line[row] < start->second) ++before;
  }
}

}  // namespace

void ReplicaCameBack(Board& board) {
  std::map<int32_t, int64_t> starts = LastStarts(board);
  ForgetDeadOnes(board, starts);
  if (starts.empty()) return;
  for (const size_t i : board.Find("")) {
    if (board.At(i).severity != Severity::kError) continue;
    size_t all = 0, before = 0;
    CountRows<ProcessExitTable>(board, board.At(i), starts, all, before);
    CountRows<TextEventTable>(board, board.At(i), starts, all, before);
    if (all == 0 || before < all) continue;
    board.At(i).severity = Severity::kWarning;
    board.Lower(i, "its replica group was started again and the job went on");
  }
}

}  // namespace debrief::analyses::verdict
