// What an allocation is for, by the stack that made it.
#pragma once

#include <string_view>

#include "base/pools/ids.h"

namespace debrief::analyses::memory_ranks {

// One of memory_category.category, unused excepted. The innermost frame that tells decides: what a
// checkpointed forward allocates again inside of backward is an activation.
std::string_view CategoryOf(const Pools& pools, StackId stack);

}  // namespace debrief::analyses::memory_ranks
