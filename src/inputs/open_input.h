// From a found input to a Source: opens the file and unpacks it.
#pragma once

#include <cstdint>

#include "base/bytes/byte_stream.h"
#include "base/bytes/spill.h"
#include "inputs/found_input.h"

namespace debrief {

// The bytes an importer will see. `trouble` is what ended them early; `source` is null only when
// the file cannot be opened at all. Archive members and stdin hand out what was unpacked when they
// were found.
Spilled OpenInput(FoundInput& input, SpillBudget& budget);

// Unpacks to the end and forgets: is the stream whole, and how long is it?
Status CheckPacked(const FoundInput& input, int64_t& content_bytes);

// Reads a stream to its end and counts.
Status ReadToEnd(ByteStream& stream, int64_t& bytes);

}  // namespace debrief
