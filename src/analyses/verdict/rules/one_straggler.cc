// A dump shows that a rank comes late again and again, a profile shows that too and why. When both
// blame one rank the profile is told, surer for the dump; the dump's finding follows from it.
#include "analyses/verdict/rules.h"

namespace debrief::analyses::verdict {

void OneStraggler(Board& board) {
  for (size_t profile : board.FindCauses("profile.straggler")) {
    for (size_t dump : board.FindCauses("flight.straggler")) {
      if (board.At(profile).ranks != board.At(dump).ranks) continue;
      if (!board.Fold(profile, dump)) continue;
      board.Support(profile, board.At(dump).confidence, "dumps show the same rank late");
      const Finding& late = board.At(dump);
      if (!late.evidence.empty())
        board.At(profile).evidence.push_back(
            {"by the dumps: " + late.headline, late.evidence[0].table, late.evidence[0].rows});
    }
  }
}

}  // namespace debrief::analyses::verdict
