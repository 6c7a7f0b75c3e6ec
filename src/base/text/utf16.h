// Text in UTF-16 as UTF-8. A shell of Windows that redirects the output of a job writes UTF-16.
#pragma once

#include <memory>
#include <string_view>

#include "base/bytes/byte_stream.h"

namespace debrief {

// By the mark at the beginning, where a plain character follows: four bytes are enough.
bool IsUtf16(std::string_view head);

// `in` without its mark. Halves of characters become U+FFFD; nothing fails but `in`.
std::unique_ptr<ByteStream> MakeUtf8Stream(std::unique_ptr<ByteStream> in);

}  // namespace debrief
