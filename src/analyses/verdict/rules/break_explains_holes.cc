// The rank that broke the job is often the one whose dump, log or profile is missing: the hole
// follows from the break. A hole of another rank stays what it is, something to look for.
#include "analyses/verdict/rules.h"

namespace debrief::analyses::verdict {

void BreakExplainsHoles(Board& board) {
  std::vector<size_t> causes = board.RankedCauses();
  std::erase_if(causes, [&](size_t i) { return board.At(i).severity != Severity::kError; });
  for (size_t cause : causes) {
    for (std::string_view rule : {"coverage.missing_input", "flight.no_dump"}) {
      for (size_t hole : board.Find(rule)) {
        bool of_cause = hole != cause && board.At(hole).severity != Severity::kError &&
                        ContainsAll(board.At(cause).ranks, board.At(hole).ranks);
        if (of_cause && board.At(hole).role != Role::kConsequence) board.Fold(cause, hole);
      }
    }
  }
}

}  // namespace debrief::analyses::verdict
