#include "analyses/verdict/process_exits.h"

#include <fmt/format.h>

#include "tables/process_exit.h"
#include "torch/end_signs.h"

namespace debrief::analyses::verdict {

std::vector<ProcessExit> ProcessExitsOf(const Board& board) {
  std::vector<ProcessExit> found;
  const Pools& pools = board.model().pools;
  const auto& exits = board.model().tables.Get<ProcessExitTable>();
  for (const size_t row : board.OwnRows(exits)) {
    ProcessExit& exit = found.emplace_back();
    exit.row = static_cast<int64_t>(row);
    exit.rank = exits.rank[row];
    exit.time_ns = exits.time_ns[row];
    const int32_t code = exits.exit_code[row];
    exit.exit_code = code == kNone32 ? code : SignalOrCode(code);
    exit.said_by = pools.Text(exits.said_by[row]);
    exit.text = pools.Text(exits.text[row]);
    exit.stopped = pools.Text(exits.how[row]) == "stopped";
    exit.first = exits.first[row] != 0;
  }
  return found;
}

void AddAttemptsOfExits(const Model& model, std::set<std::pair<int32_t, int32_t>>& attempts) {
  const auto& exits = model.tables.Get<ProcessExitTable>();
  for (size_t row = 0; row < exits.size(); ++row)
    attempts.emplace(exits.job[row], exits.attempt[row]);
}

std::string EndInWords(int32_t exit_code) {
  if (exit_code == kNone32) return "ended";
  if (exit_code >= 0) return fmt::format("exited with code {}", exit_code);
  return fmt::format("ended by {} (signal {})", SignalName(-exit_code), -exit_code);
}

}  // namespace debrief::analyses::verdict
