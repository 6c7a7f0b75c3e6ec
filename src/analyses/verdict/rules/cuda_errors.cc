// A profile records that a call of CUDA failed, the output of the rank tells the exception that
// followed, with the line of the program: one cause, told with the line.
#include "analyses/verdict/rules.h"

namespace debrief::analyses::verdict {

void ProfileSupportsDeath(Board& board) {
  for (size_t profile : board.FindCauses("profile.cuda_error")) {
    for (size_t text : board.FindCauses("text_hang.")) {
      const double confidence = board.At(profile).confidence;
      if (board.At(profile).ranks.empty() || board.At(text).ranks != board.At(profile).ranks)
        continue;
      if (!board.Fold(text, profile)) continue;
      board.At(profile).severity = Severity::kInfo;
      board.Support(text, confidence, "the profile of this rank recorded the CUDA error");
      break;
    }
  }
}

}  // namespace debrief::analyses::verdict
