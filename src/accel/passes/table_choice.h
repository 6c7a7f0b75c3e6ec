// Which table of ideal cycles each kernel belongs to, where a log has several (prefill, decode).
//
// The kernels of a job, in the order of time, are cut into iterations (model/accel/iterations.h)
// and what lies between them; each piece takes the table that fits it best: that knows its kernels,
// has them in the same order, and whose ideal times are not above the measured ones. Where tables
// know the same kernels in the same order, the one with the higher ideal time that still fits wins:
// a decode table would fit a prefill, too.
//
// Cost: kernels times tables.
#pragma once

#include <cstdint>
#include <vector>

#include "accel/passes/utilization.h"

namespace debrief::accel {

struct TableChoice {
  std::vector<uint32_t> table;  // by event; 0 where the event is no kernel
  size_t pieces = 0;
  size_t unclear_pieces = 0;  // of which no table knows half of the kernels
};

TableChoice ChooseTables(const EventList& events, Utilization& state, Run& run);

}  // namespace debrief::accel
