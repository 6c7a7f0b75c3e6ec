// Times in names of files that torch.distributed.debug writes: stacks_20261115_232140.txt.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief {

// Nanoseconds since 1970 of the first YYYYmmdd_HHMMSS in `name`, taken as UTC (it is the local time
// of rank 0's host); kNone64 when there is none.
int64_t TimeInName(std::string_view name);

}  // namespace debrief
