// Which lines of a job's text say that it ended badly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace debrief {

// `kind`, `exit_code` and `text` as text_event has them. A watchdog that gave up, a process that
// ended by a signal or with a code other than 0, a lack of memory of the host. What a program may
// catch and go on from (a traceback, an NCCL warning, a lack of GPU memory) is none.
bool IsSignOfBadEnd(std::string_view kind, int32_t exit_code, std::string_view text);

// Does an exception only say that communication was given up, or that a peer is gone? It follows
// from what ended that peer.
bool IsAboutAPeer(std::string_view text);

// "[ERROR] could not push metrics": what a logger calls an error, which is none by itself.
bool IsLoggedError(std::string_view text);

// An exception ends a process once; one that comes again and again is caught each time. Twice is
// usual: who logs it raises it again. `times` as text_event has it. Of a text whose lines tell no
// rank each of the `ranks` may have said it; unknown ones are as many as one machine has.
bool IsCaughtEachTime(int32_t times, int32_t rank, size_t ranks);

// A shell tells the signal that ended its child as 128 and the number: 137 is -9.
int32_t SignalOrCode(int32_t exit_code);

// Of SIGTERM, SIGINT or SIGHUP: somebody told the process to end.
bool IsTold(int32_t exit_code);

// A bad end that the job itself did not come to: a scheduler, a user or a launcher ended it. Of a
// job that was ended so, nothing tells that it hung.
bool IsEndFromOutside(std::string_view kind, int32_t exit_code);

// "SIGKILL", or "signal 45" of one that has no name here.
std::string SignalName(int32_t number);

}  // namespace debrief
