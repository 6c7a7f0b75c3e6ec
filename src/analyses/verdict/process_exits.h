// How the processes of an attempt ended, as launchers, schedulers, kernels and shells say it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/verdict/board.h"

namespace debrief::analyses::verdict {

struct ProcessExit {
  int64_t row = 0;  // of process_exit
  int32_t rank = kNone32;
  int64_t time_ns = kNone64;
  int32_t exit_code = kNone32;  // negative: the signal
  std::string_view said_by;
  std::string_view text;
  bool stopped = false;  // the launcher or scheduler ended it
  bool first = false;    // the launcher calls it the first failure
};

// Those of the board's attempt, in the order of the table.
std::vector<ProcessExit> ProcessExitsOf(const Board& board);

// The attempts, as job and attempt, of which the table knows.
void AddAttemptsOfExits(const Model& model, std::set<std::pair<int32_t, int32_t>>& attempts);

// "ended by SIGKILL (signal 9)", "exited with code 1".
std::string EndInWords(int32_t exit_code);

}  // namespace debrief::analyses::verdict
