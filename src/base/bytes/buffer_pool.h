// Buffers for the windows of files, used again after their views have died.
//
// A fresh megabyte costs 256 page faults and their zeroing: several times the copy out of the page
// cache that fills it (1.8 instead of 7.9 GB per CPU second, measured). malloc keeps such blocks
// only when it happens to find them inside a heap. So a few are kept here: reading a file in order
// works in one or two buffers.
#pragma once

#include <cstddef>
#include <memory>

namespace debrief {

// At least `bytes` bytes, not initialised; null when there is no memory. Any thread may take and
// drop.
std::shared_ptr<char[]> TakeBuffer(size_t bytes);

}  // namespace debrief
