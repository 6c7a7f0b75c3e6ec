// The fields that the kinds of guards with provenance have in common.
#pragma once

#include "base/json/cursor.h"
#include "inputs/torch_trace/entry.h"

namespace debrief::inputs::torch_trace {

// Adds a row to compile_shape.
Status ReadGuard(JsonValue value, Entry& entry);

}  // namespace debrief::inputs::torch_trace
