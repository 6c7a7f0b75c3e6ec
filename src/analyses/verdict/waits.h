// When and in what others waited, whoever told it: dumps or watchdogs.
#pragma once

#include <string>
#include <vector>

#include "analyses/verdict/board.h"

namespace debrief::analyses::verdict {

struct Window {
  int64_t begin_ns = kNone64;
  int64_t end_ns = kNone64;

  bool known() const { return begin_ns != kNone64; }
  int64_t length() const { return end_ns - begin_ns; }
  void Widen(int64_t other_begin_ns, int64_t other_end_ns);
  int64_t OverlapWith(int64_t other_begin_ns, int64_t other_end_ns) const;
};

// From the first who waits for the blamed until a time limit ends it, by the rows of comm_op or
// text_event that are the finding's evidence. Unknown when they tell no time.
Window WaitOf(const Board& board, const Finding& finding);

// Ranks that wait, by what follows from the finding; without such, the other members of its group.
std::vector<int32_t> WaitersOf(const Board& board, const Finding& finding);

// "ranks 0-2 waited in send #5 of mesh_pp [3, 7]"; "" when nobody is known to.
std::string WaitingInWords(const Board& board, const Finding& finding);

}  // namespace debrief::analyses::verdict
