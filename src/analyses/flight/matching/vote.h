// Who of the members of a group did the wrong thing, when they did different things?
#pragma once

#include <vector>

#include "analyses/flight/index.h"

namespace debrief::analyses::flight {

struct Verdict {
  std::vector<int32_t> blamed;  // units
  int32_t reference = -1;       // a unit that did the right thing; -1 when nobody can tell
  bool by_majority = false;     // else by what is usual
  bool alone = false;           // the only one of the group of whom anything is known
  bool undecided = false;       // all members are blamed, because nothing tells them apart
};

// The majority of the row is right. Without one, what each did is compared with what is usual: the
// same place in sibling groups (same description and size), what followed the same ops in the
// rank's own past, and other calls from the same source line. Cost: linear in the units, only for
// rows without a majority.
Verdict Vote(const Index& index, const Group& group, const SeqRow& row);

// The only member of a row of whom anything is known, the others having left no dump or half of
// one: does it do what nobody in the same place does, and what it never did before? Then a unit of
// a sibling group that shows what it should have done, else -1. `looks` counts those whose past had
// to be looked at, which is done for a bounded number.
int32_t OddOneOut(const Index& index, const Group& group, const Unit& unit, size_t& looks);

}  // namespace debrief::analyses::flight
