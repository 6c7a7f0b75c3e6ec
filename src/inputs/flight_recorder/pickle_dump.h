// Dumps as pickles: PyTorch's own writer and Python's.
#pragma once

#include <string_view>

#include "inputs/flight_recorder/dump.h"

namespace debrief::inputs::flight_recorder {

// Adds all rows of the dump in `text` (followed by kPadding readable bytes) to `part`. A pickle
// that is cut, broken or hostile gives the entries before the damage and a diagnostic.
void ReadPickleDump(std::string_view text, const Identity& who, Part& part);

}  // namespace debrief::inputs::flight_recorder
