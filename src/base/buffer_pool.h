// Buffers for the windows of files, used again after their views have died.
//
// A fresh megabyte costs 256 page faults and their zeroing, about as much as the copy out of the
// page cache that fills it; glibc gives large blocks back to the kernel as soon as they are freed.
// So a few of them are kept: reading a file in order then works in one or two buffers that stay in
// the cache.
#pragma once

#include <cstddef>
#include <memory>

namespace debrief {

// At least `bytes` bytes, not initialised; null when there is no memory. Any thread may take and
// drop.
std::shared_ptr<char[]> TakeBuffer(size_t bytes);

}  // namespace debrief
