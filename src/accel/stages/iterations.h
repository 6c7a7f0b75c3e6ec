// What collect_iteration_stats found out, for the tables that are written later.
#pragma once

#include <string>
#include <vector>

#include "accel/run.h"

namespace debrief::accel {

struct RankIterations {
  size_t kernels = 0;             // looked at
  size_t period = 0;              // kernels in an iteration; 0: no iteration found
  std::vector<double> starts;     // of every iteration, microseconds
  std::vector<double> ends;       // start of the next, or the end of its last kernel
  std::vector<double> lengths;    // from one start to the next, where they follow each other
  size_t without_time = 0;        // repetitions that begin at one moment: no iterations
  std::string why_not;            // period 0: why there is none
  bool from_annotations = false;  // the program marked its steps itself
};

struct IterationStats {
  ByValue<RankIterations> ranks;
};

// Mean and sample deviation; 0 of nothing.
struct Spread {
  double mean = 0;
  double deviation = 0;
  double min = 0;
  double max = 0;
};
Spread SpreadOf(const std::vector<double>& values);

}  // namespace debrief::accel
