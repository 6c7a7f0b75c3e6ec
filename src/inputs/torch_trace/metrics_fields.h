// The fields that the kinds of compilation metrics have in common.
#pragma once

#include "base/json/cursor.h"
#include "inputs/torch_trace/entry.h"

namespace debrief::inputs::torch_trace {

// Adds a row to compile_metrics, and one to compile_restart for each restart.
Status ReadMetrics(JsonValue value, Entry& entry);

}  // namespace debrief::inputs::torch_trace
