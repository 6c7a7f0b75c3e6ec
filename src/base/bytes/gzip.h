// Bytes packed as gzip, and bytes as base64 text.
#pragma once

#include <string>
#include <string_view>

namespace debrief {

// One gzip member. About 300 MB a second. At most 4 GB of bytes.
std::string Gzip(std::string_view bytes);

// RFC 4648 with padding, one line. About 1 GB a second.
void AppendBase64(std::string& out, std::string_view bytes);

}  // namespace debrief
