// <stem>_categories.csv and .txt: what the kernels of each category took, per rank and phase.
//
// Without --compat there are also the cycles that the device counted, those of the core, and rows
// for all ranks together (Pid "all"); under autopilot every row says that only its Total is
// measured, and with --autopilot_data the categories of another run share it out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "accel/stages/utilisation.h"

namespace debrief::accel {

void WriteCategories(const Utilization& state, Run& run);

// The categories of another run: its _categories.csv, as shares of the total.
//
// A run under autopilot knows its total alone; one of the same program without autopilot says how
// a total divides (--autopilot_data FILE).

struct CategoryShares {
  struct Row {
    std::string category;
    double time = 0, ideal = 0, calls = 0;  // shares: 0 to 1
  };
  std::vector<Row> rows;  // without Total, least time first
};

// Of all ranks and phases of the file together. Empty, with a warning, when it cannot be read;
// empty when `path` is.
CategoryShares ReadShares(const std::string& path, Console& console);

// Of the text of such a file.
CategoryShares ParseShares(std::string_view text);

}  // namespace debrief::accel
