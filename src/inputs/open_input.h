// From a found input to a Source: opens the file and unpacks it.
#pragma once

#include <cstdint>
#include <functional>

#include "base/bytes/byte_stream.h"
#include "base/bytes/spill.h"
#include "inputs/found_input.h"

namespace debrief {

// The bytes an importer will see. `trouble` is what ended them early; `source` is null only when
// the file cannot be opened at all. Archive members and stdin hand out what was unpacked when they
// were found. `on_read` is told how many bytes of a packed file were read, piece by piece: a large
// one takes as long to unpack as to import.
Spilled OpenInput(FoundInput& input, SpillBudget& budget,
                  const std::function<void(uint64_t bytes)>& on_read = {});

// Unpacks to the end and forgets: is the stream whole, and how long is it?
Status CheckPacked(const FoundInput& input, int64_t& content_bytes);

// Reads a stream to its end and counts.
Status ReadToEnd(ByteStream& stream, int64_t& bytes);

}  // namespace debrief
