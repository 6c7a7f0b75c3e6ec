// Lines that say how a process ended: those of launchers, schedulers, shells and the kernel.
//
//   failed (exitcode: -9) local_rank: 1 (pid: 1327) of binary: /usr/bin/python         torchrun
//   srun: error: node1: tasks 3-5,7: Killed                                            srun
//   mpirun noticed that process rank 3 with PID 4711 on node n2 exited on signal 9     mpirun
//   Memory cgroup out of memory: Killed process 4711 (python) total-vm:...             kernel
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"

namespace debrief::inputs::job_text {

struct ExitStatement {
  std::string_view said_by;
  std::string_view how = "own";
  std::vector<int32_t> ranks;  // global; empty when not told
  int32_t local_rank = kNone32;
  int64_t pid = kNone64;
  std::string_view host;
  int32_t exit_code = kNone32;
  bool first = false;
  bool open = false;  // the exit code stands in the next line
};

// What the line says of the end of a process, if anything.
std::optional<ExitStatement> ParseExit(std::string_view text);

// The part of a statement that stands in the next line: "signal 9 (Killed).", "Exit code:    1",
// "=   KILLED BY SIGNAL: 9 (Killed)". kNone32 when it is not there.
int32_t ParseRestOfExit(std::string_view text);

// A shell adds 128 to the signal that ended its child: 137 is -9.
int32_t WithoutShell(int32_t exit_code);

// "3-5,7" -> 3, 4, 5, 7; at most kMostTasks.
std::vector<int32_t> ParseRanges(std::string_view text);

}  // namespace debrief::inputs::job_text
