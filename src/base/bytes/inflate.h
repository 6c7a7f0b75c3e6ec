// Unpacking a piece of zlib data (RFC 1950) that is in memory as a whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"

namespace debrief {

// kInvalid when the data is broken, kTruncated when it ends early, kLimit when more than
// `max_bytes` come out of it. Memory grows with what comes out, never with what is promised.
Result<std::string> InflateZlib(std::string_view packed, size_t max_bytes);

}  // namespace debrief
