// What can be wrong with an execution trace.
#pragma once

#include "model/diagnostics.h"

namespace debrief::inputs::execution_trace {

inline constexpr DiagnosticKind kTruncated = {
    "execution_trace.truncated", Severity::kError, "the trace ends too early; whole nodes are kept",
    "The observer was not stopped before the process ended, or the copy is incomplete."};
inline constexpr DiagnosticKind kBadNode = {"execution_trace.bad_node", Severity::kError,
                                            "a node has no id or no name, or its JSON is broken; "
                                            "left out",
                                            "Look at the node at this place."};
inline constexpr DiagnosticKind kNoNodes = {
    "execution_trace.no_nodes", Severity::kWarning, "the trace has no nodes",
    "Run at least one step between start() and stop() of ExecutionTraceObserver."};

}  // namespace debrief::inputs::execution_trace
