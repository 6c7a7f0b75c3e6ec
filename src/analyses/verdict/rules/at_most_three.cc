// Who reads a verdict acts on one thing, and may look at two more. What is less serious or less
// sure than three causes is told as an observation.
#include "analyses/verdict/rules.h"

namespace debrief::analyses::verdict {

void AtMostThree(Board& board) {
  constexpr size_t kMostCauses = 3;
  std::vector<size_t> causes = board.RankedCauses();
  for (size_t i = kMostCauses; i < causes.size(); ++i)
    board.Lower(causes[i], "three causes of this job are more serious or surer");
}

}  // namespace debrief::analyses::verdict
