// "Fix this first" about the ranks of a cause is that cause's price: it follows from it, and does
// not stand beside it as if it were something else to look at.
#include "analyses/verdict/rules.h"

namespace debrief::analyses::verdict {

void PriceOfCause(Board& board) {
  for (size_t price : board.Find("cost.fix_first")) {
    for (size_t cause : board.RankedCauses()) {
      if (board.At(price).ranks.empty() || board.At(price).ranks != board.At(cause).ranks) continue;
      if (board.Fold(cause, price)) break;
    }
  }
}

}  // namespace debrief::analyses::verdict
