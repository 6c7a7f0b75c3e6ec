// What can be wrong with a clog of torchcomms.
#pragma once

#include "model/diagnostics.h"

namespace debrief::inputs::torchcomms_clog {

inline constexpr DiagnosticKind kBadLine = {
    "torchcomms_clog.bad_line", Severity::kWarning, "a line is cut or of another form; left out",
    "The process was killed while it wrote, or the log is of a newer version of torchcomms."};
inline constexpr DiagnosticKind kNoSignature = {
    "torchcomms_clog.no_signature", Severity::kWarning,
    "an operation whose signature the log does not have; left out",
    "The beginning of the log is missing; give the whole file."};
inline constexpr DiagnosticKind kWarned = {"torchcomms_clog.warning", Severity::kInfo,
                                           "torchcomms wrote a warning into its log",
                                           "Read the line; what it is about may be incomplete."};
inline constexpr DiagnosticKind kForgotten = {
    "torchcomms_clog.older_operations", Severity::kInfo,
    "the log has more than a million operations; the newest are kept",
    "Cut the log to the time that matters."};
inline constexpr DiagnosticKind kReplays = {
    "torchcomms_clog.graph_replays", Severity::kInfo,
    "operations of replayed CUDA graphs have no order across ranks and are not compared",
    "Run without CUDA graphs to see which rank is late in them."};

}  // namespace debrief::inputs::torchcomms_clog
