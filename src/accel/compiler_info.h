// What -c gives: tables of ideal cycles, one log or torch-spyre directory a rank.
#pragma once

#include <string>
#include <vector>

#include "accel/pass.h"
#include "model/accel/compiler_log.h"

namespace debrief::accel {

struct CompilerInfo {
  std::vector<CompilerLog> logs;  // in the order of ranks; one log serves all

  // Null when there is none for this rank, or it has no table.
  const CompilerLog* LogOf(const Value& rank) const;
  bool HasTables() const;
};

// Every entry of the comma list is read; one that cannot be is a warning and an empty log.
CompilerInfo LoadCompilerInfo(const Options& options, Console& console);

}  // namespace debrief::accel
