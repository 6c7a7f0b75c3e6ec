// <stem>_summary.csv, _active.csv and _ts_analysis.csv: what each kernel took, how busy each rank
// was, and the cycles between stamps. Tab separated and padded, times in microseconds.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "accel/passes/helpers.h"

namespace debrief::accel {

// All slices of one name on one rank.
struct KernelStats {
  std::string name;
  std::vector<double> durations;
  std::array<std::vector<double>, 4> gaps;  // in cycles, TS1 to TS2 ... TS4 to TS5
  double total = 0;
};

struct RankStats {
  std::vector<KernelStats> kernels;
  double total = 0;
  double start = 0, end = 0;
  bool any = false;
};

// `ranks` in the order of pids.
void WriteKernelStats(std::vector<std::pair<Value, RankStats>>& ranks, Run& run);

}  // namespace debrief::accel
