// Causes that name no rank, beside those that do.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyses/verdict/rules.h"
#include "tables/comm_op.h"

namespace debrief::analyses::verdict {

namespace {

// The ranks whose last operations are the evidence of a finding that names nobody.
std::set<int32_t> RanksOfEvidence(const Board& board, const Finding& finding) {
  const auto& ops = board.model().tables.Get<CommOpTable>();
  std::set<int32_t> ranks;
  for (size_t row : RowsOf(finding, "comm_op")) {
    if (row < ops.size()) ranks.insert(ops.rank[row]);
  }
  return ranks;
}

}  // namespace

// Ranks without a timeout of their own printed nothing more. Where dumps show that they stopped
// together, likely in the set-up of a group, they wait, too: nobody may be blamed for being silent.
void StoppedTogetherAreNotSilent(Board& board) {
  for (size_t stopped : board.FindCauses("flight.stopped_together")) {
    std::set<int32_t> ranks = RanksOfEvidence(board, board.At(stopped));
    for (size_t silent : board.FindCauses("text_hang.silent")) {
      const std::vector<int32_t>& said = board.At(silent).ranks;
      bool same =
          std::all_of(said.begin(), said.end(), [&](int32_t rank) { return ranks.contains(rank); });
      if (!same || !board.Fold(stopped, silent)) continue;
      board.At(silent).severity = Severity::kInfo;
      board.Support(stopped, board.At(silent).confidence * 0.5,
                    "the outputs show the same ranks without a time limit");
    }
    for (size_t timeouts : board.Find("text_hang.timeouts")) board.Fold(stopped, timeouts);
  }
}

namespace {

// What was seen of the living job (stacks, NCCL RAS, traces) and names who stands apart. It is a
// picture of one moment, and a warning until something else shows that the job failed.
bool IsLivePicture(const Finding& finding) {
  return !finding.ranks.empty() &&
         (finding.rule.starts_with("text_stacks.") || finding.rule.starts_with("text_ras.") ||
          finding.rule.starts_with("text_fr_trace.") ||
          finding.rule.starts_with("text_no_answer."));
}

// The error that names a rank; else the picture that does. ~0 when there is none.
size_t FindNamed(Board& board, const std::vector<size_t>& causes) {
  for (size_t i : causes) {
    if (board.At(i).severity == Severity::kError && !board.At(i).ranks.empty()) return i;
  }
  for (size_t i : causes) {
    if (!IsLivePicture(board.At(i))) continue;
    board.At(i).severity = Severity::kError;
    return i;
  }
  return ~size_t{0};
}

}  // namespace

// What names nobody ("one of the ranks without a dump", "all joined and none completes") follows
// from an error that does, whoever found it. A straggler is no answer to a job that hung or ended.
void NamedExplainsUnnamed(Board& board) {
  std::vector<size_t> causes = board.RankedCauses();
  std::vector<size_t> unnamed;
  for (size_t i : causes) {
    bool error = board.At(i).severity == Severity::kError;
    if (error && board.At(i).ranks.empty()) unnamed.push_back(i);
  }
  if (unnamed.empty()) return;
  size_t named = FindNamed(board, causes);
  if (named == ~size_t{0}) {
    for (std::string_view rule :
         {"flight.straggler", "profile.straggler", "host_bandwidth.straggler"}) {
      for (size_t straggler : board.FindCauses(rule))
        board.Lower(straggler, "a rank that comes late does not end a job");
    }
    return;
  }
  for (size_t i : unnamed) {
    std::vector<size_t> effects = board.At(i).explains;
    if (!board.Fold(named, i)) continue;
    for (size_t effect : effects) board.Fold(named, effect);
  }
}

}  // namespace debrief::analyses::verdict
