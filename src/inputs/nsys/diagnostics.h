// What can be wrong with a report of Nsight Systems.
#pragma once

#include "model/diagnostics.h"

namespace debrief::inputs::nsys {

inline constexpr DiagnosticKind kNotExported = {
    "nsys.not_exported", Severity::kWarning,
    "a report of Nsight Systems in its own format, which only Nsight Systems reads",
    "Export it beside this file: nsys export --type sqlite FILE; then name that folder again."};
inline constexpr DiagnosticKind kDamaged = {
    "nsys.damaged", Severity::kError,
    "pages of a table are damaged or missing; its other rows are read",
    "Copy the file again, or export the report once more: nsys export --type sqlite FILE."};
inline constexpr DiagnosticKind kBadTime = {
    "nsys.bad_time", Severity::kWarning,
    "an event has no usable time, or ends before it begins; left out",
    "Nothing to do: the other events are read."};
inline constexpr DiagnosticKind kNoEvents = {
    "nsys.no_events", Severity::kWarning, "the export has no events of CUDA, NVTX or the system",
    "Record with: nsys profile --trace=cuda,nvtx,osrt; then export all tables."};
inline constexpr DiagnosticKind kNoClock = {
    "nsys.no_clock", Severity::kInfo,
    "the export does not say when the recording began; its times count from 0",
    "Export all tables: TARGET_INFO_SESSION_START_TIME has it."};
inline constexpr DiagnosticKind kOpenRange = {
    "nsys.open_range", Severity::kInfo,
    "an NVTX range has no end; it is taken to last until the end of the recording",
    "It was open when the recording stopped."};
inline constexpr DiagnosticKind kRecorderError = {
    "nsys.recorder_error", Severity::kWarning, "Nsight Systems reported an error while it recorded",
    "Read its text: events may be missing."};

}  // namespace debrief::inputs::nsys
