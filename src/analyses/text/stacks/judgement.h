// Who stands alone? The suspects are the few that do not wait while most of the others do.
//
// A stack tells a wait where the wait is Python's; a wait inside of C shows as the user's own line.
// There, most processes in one and the same line wait, by all that is seen.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/text/stacks/histories.h"

namespace debrief::analyses::text_stacks {

enum class Outcome : uint8_t {
  kNobody,    // too few stacks, no majority that waits, or the job moved on between dumps
  kAlone,     // suspects work on their own while the others wait
  kNoAnswer,  // suspects gave no stack while the others wait
  kDiverges,  // all wait, one of them elsewhere than all others
  kAllWait,   // all wait: the reason is none of their programs' lines
};

struct Judgement {
  Outcome outcome = Outcome::kNobody;
  std::vector<size_t> suspects;  // positions in Series::processes
  std::vector<size_t> waiters;
  size_t known = 0;   // processes that gave a stack, or an error in its place
  bool seen = false;  // the stacks show the waits themselves
  size_t still = 0;   // in how many of the last dumps nothing moved
};

Judgement Judge(const Series& series);

}  // namespace debrief::analyses::text_stacks
