// What sources are made of, for the code of base/ that makes new kinds (base/bytes/spill.cc).
// Everybody else includes base/bytes/source.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes/source.h"
#include "base/bytes/unique_fd.h"

namespace debrief {

// Over bytes that somebody else allocated. kPadding zero bytes follow them already. The views share
// ownership, so what hangs on `bytes` lives until the source and its last view are gone.
std::unique_ptr<Source> MakeSharedSource(std::shared_ptr<const char[]> bytes, size_t size);

// Over the first `size` bytes of an open regular file. `name` stands in messages.
std::unique_ptr<Source> MakeFdSource(UniqueFd fd, uint64_t size, std::string name);

}  // namespace debrief
