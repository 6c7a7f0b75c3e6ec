// Bytes in memory packed as gzip, unpacked from zlib, and as base64 text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"

namespace debrief {

// One gzip member. About 300 MB a second. At most 4 GB of bytes.
std::string Gzip(std::string_view bytes);

// RFC 4648 with padding, one line. About 1 GB a second.
void AppendBase64(std::string& out, std::string_view bytes);

// Unpacks zlib data (RFC 1950) that is in memory as a whole.
// kInvalid when the data is broken, kTruncated when it ends early, kLimit when more than
// `max_bytes` come out of it. Memory grows with what comes out, never with what is promised.
Result<std::string> InflateZlib(std::string_view packed, size_t max_bytes);

}  // namespace debrief
