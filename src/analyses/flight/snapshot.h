// Were the dumps taken from a job that hung or ended, or from one that went on?
//
// A dump that somebody asked for is a snapshot: ranks write theirs some milliseconds apart, and the
// watchdog reports completions up to 100 ms late. Ranks then differ by what they did meanwhile, and
// nothing of that is a fault.
#pragma once

#include <vector>

#include "analyses/flight/cause.h"
#include "analyses/flight/index.h"
#include "analyses/flight/waits/waits.h"

namespace debrief::analyses::flight {

enum class Moment : uint8_t {
  kBadEnd,   // a time limit, an abort or an exit is told, or an entry outlived its time limit
  kRunning,  // the dumps were taken while work went on
  kUnknown,  // dumps alone: they are written when a job hangs, so that is assumed
};

Moment MomentOf(const Index& index, const Waits& waits);

// Dumps name no cause, and work was in flight: who was in what. An observation, or all that is
// known where the job ended badly.
void AddInFlight(const Index& index, const Waits& waits, Moment moment,
                 std::vector<Finding>& findings);

}  // namespace debrief::analyses::flight
