// Which entry of a trace was recorded inside of which: by start, duration and thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "debrief/op_trace.hpp"

namespace debrief::op_trace {

inline constexpr size_t kNoParent = static_cast<size_t>(-1);

// The innermost entry that encloses each; kNoParent where none does or no start is told. Sorts
// positions, then one pass.
std::vector<size_t> ParentsOf(std::span<const Entry> entries);

}  // namespace debrief::op_trace
