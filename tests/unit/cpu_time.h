// CPU time of this process: what a test that bounds a cost measures, since wall time grows with
// whatever else the machine does.
#pragma once

#include <ctime>

namespace debrief {

inline double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace debrief
