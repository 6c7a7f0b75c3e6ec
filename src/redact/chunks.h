// A text in pieces that end where no secret lies across: at a line end, in documents of one long
// line between two elements.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "base/bytes/source.h"
#include "base/status.h"

namespace debrief::redact {

using Sink = std::function<Status(std::string_view)>;

// Where the first part of `text` may end; `text` has more behind it.
size_t EndOfPiece(std::string_view text);

// Calls `piece` for all of `source` in order. Memory: a few MiB.
Status ForEachPiece(const Source& source, const Sink& piece);

}  // namespace debrief::redact
