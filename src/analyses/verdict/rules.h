// The rules (rules/). A rule looks at the findings of one attempt and says which follow from
// which; docs/verdict.md has them in a table. They run in this order: each sees what those before
// it have folded.
#pragma once

#include "analyses/verdict/board.h"

namespace debrief::analyses::verdict {

// The end of a rank that waits by its dump is its watchdog's: it is no death of its own.
void AbortedByWatchdog(Board& board);

// A dump signal of an earlier attempt that ended this one explains its empty dumps.
void StaleSignalExplainsDumps(Board& board);

// A compilation of the rank that others wait for, while they wait, is why it did not come.
void CompilingWhileOthersWait(Board& board);

// A process that aborted without a dump, or ended well while others wait, is a cause.
void EndedProcesses(Board& board);

// A rank that died or exited neither comes nor leaves a dump.
void DeathExplainsAbsence(Board& board);

// Ranks that stopped together wait, too: text must not call them silent.
void StoppedTogetherAreNotSilent(Board& board);

// Text that says members differ is wrong where dumps show one call.
void DumpsRefuteText(Board& board);

// Stacks show where the rank stands that others wait for, and who does not stand but waits.
void StacksDecide(Board& board);

// The last stack of a rank that did not come shows where it was.
void StacksPlaceTheBlamed(Board& board);

// Watchdogs that tell the same as dumps make them surer.
void TextSupportsDumps(Board& board);

// A CUDA error in the profile of a rank that died by its output makes that surer.
void ProfileSupportsDeath(Board& board);

// Dumps and profiles that find the same straggler are one cause; the one with a reason is told.
void OneStraggler(Board& board);

// A slow GPU or connection is why its rank is late.
void HostExplainsStraggler(Board& board);

// A GPU that failed is why its rank is gone.
void GpuFaultExplainsEnd(Board& board);

// Monitors that show one rank apart from the others when the job hung.
void HostPicturesOfEnd(Board& board);

// Compiling on the straggler, in the time in which it came late, is why it did.
void CompilingMakesLate(Board& board);

// Ranks that wait for a straggler, or for a host, are idle and show exposed communication.
void StragglerExplainsWaiting(Board& board);

// The rank that broke the job left no input of some kind.
void BreakExplainsHoles(Board& board);

// While others waited for the rank that broke the job, steps were slow.
void BreakExplainsSlowSteps(Board& board);

// Of two causes that blame different ranks for one wait the better founded stays.
void NoContradictions(Board& board);

// What names no rank follows from an error that does.
void NamedExplainsUnnamed(Board& board);

// A job that any input shows to have failed has an error.
void NeverNothing(Board& board);

// A replica group of torchft that died and came back did not fail the job.
void ReplicaCameBack(Board& board);

// What data is missing makes the verdict on a broken job less sure, and says so.
void MissingDataLowers(Board& board);

// What a cause costs follows from it.
void PriceOfCause(Board& board);

// At most three causes are told as such.
void AtMostThree(Board& board);

}  // namespace debrief::analyses::verdict
