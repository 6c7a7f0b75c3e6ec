// An attempt that dies at its start of a dump signal that an earlier attempt left in the store: its
// dumps are empty, and what they lack follows from that.
#include "analyses/verdict/rules.h"

namespace debrief::analyses::verdict {

void StaleSignalExplainsDumps(Board& board) {
  for (size_t stale : board.Find("text_hang.stale_signal")) {
    for (size_t effect : board.FindCauses("flight.")) {
      if (!board.Fold(stale, effect)) continue;
      Severity& severity = board.At(effect).severity;
      if (severity == Severity::kError) severity = Severity::kWarning;
    }
  }
}

}  // namespace debrief::analyses::verdict
