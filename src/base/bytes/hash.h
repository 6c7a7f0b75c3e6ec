// A fast hash of bytes, for tables in memory. Not for files: its values may change between
// versions.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief {

uint64_t HashBytes(std::string_view bytes);

}  // namespace debrief
