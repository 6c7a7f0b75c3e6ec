// Reads one range of a log, which begins with the line of an entry, into rows and notes.
//
// One pass: a line is found, its prefix and JSON are read, the lines of its payload are skipped
// over and summed. Payloads are not copied, but for the checksum.
#pragma once

#include <cstdint>
#include <string_view>

#include "inputs/torch_trace/entry.h"

namespace debrief::inputs::torch_trace {

// `text` lies at `offset` of the log.
void ReadRange(const LogIdentity& log, int64_t now_ns, std::string_view text, uint64_t offset,
               Part& part);

}  // namespace debrief::inputs::torch_trace
