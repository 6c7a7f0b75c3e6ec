// Writing whole files.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace debrief {

// Under a temporary name beside it, then renamed: a reader sees the old file or the new one, never
// half of one, and a failure leaves nothing behind. kNoSpace, kDenied or kIo with the path and a
// remedy.
Status WriteFileAtomically(const std::string& path, std::string_view content);

}  // namespace debrief
