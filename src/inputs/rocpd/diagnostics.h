// What can be wrong with a database of rocprofiler.
#pragma once

#include "model/diagnostics.h"

namespace debrief::inputs::rocpd {

inline constexpr DiagnosticKind kDamaged = {
    "rocpd.damaged", Severity::kError,
    "pages of a table are damaged or missing; its other rows are read", "Copy the file again."};
inline constexpr DiagnosticKind kBadTime = {
    "rocpd.bad_time", Severity::kWarning,
    "an event has no usable time, or ends before it begins; left out",
    "Nothing to do: the other events are read."};
inline constexpr DiagnosticKind kNoEvents = {
    "rocpd.no_events", Severity::kWarning, "the database has no kernels, copies or calls",
    "Record with: rocprofv3 --sys-trace --output-format rocpd -- COMMAND."};

}  // namespace debrief::inputs::rocpd
