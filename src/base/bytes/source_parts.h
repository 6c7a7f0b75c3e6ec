// What sources are made of, for the code of base/ that makes new kinds (base/bytes/spill.cc).
// Everybody else includes base/bytes/source.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes/source.h"
#include "base/bytes/unique_fd.h"

namespace debrief {

// Over bytes that somebody else allocated. kPadding zero bytes follow them already. The views share
// ownership, so what hangs on `bytes` lives until the source and its last view are gone.
std::unique_ptr<Source> MakeSharedSource(std::shared_ptr<const char[]> bytes, size_t size);

// Over pieces of an open regular file, one behind the other. `name` stands in messages.
std::unique_ptr<Source> MakePieceSource(std::shared_ptr<const UniqueFd> fd,
                                        std::vector<ByteRange> pieces, std::string name);

}  // namespace debrief
