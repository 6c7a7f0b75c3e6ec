// What can be wrong with a Trace Event Format file.
#pragma once

#include "model/diagnostics.h"

namespace debrief::trace_events {

inline constexpr DiagnosticKind kNoEvents = {"chrome_trace.no_events", Severity::kError,
                                             "the document has no array traceEvents",
                                             "Check that the profiler finished writing the file."};
inline constexpr DiagnosticKind kTruncated = {
    "chrome_trace.truncated", Severity::kError,
    "the array of events does not end; whole events are kept",
    "The job was killed while the profiler was writing; times near the end are missing."};
inline constexpr DiagnosticKind kBadEvent = {
    "chrome_trace.bad_event", Severity::kError,
    "the JSON of an event is broken (often a bare quote in a name); left out",
    "Look at the bytes there; the other events are read."};
inline constexpr DiagnosticKind kRepaired = {
    "chrome_trace.repaired", Severity::kWarning,
    "the events have control characters or bytes that are not UTF-8; read with these replaced",
    "Nothing is lost; names with such bytes look different."};
inline constexpr DiagnosticKind kNoTime = {"chrome_trace.no_time", Severity::kError,
                                           "an event has no usable time (missing, NaN, or outside "
                                           "of what 63 bits of nanoseconds hold); left out",
                                           "Look at the event at this place."};
inline constexpr DiagnosticKind kBadDuration = {
    "chrome_trace.bad_duration", Severity::kWarning,
    "an event has no usable duration (missing, negative or NaN); kept with none",
    "Sums of durations are too low by what these took."};
inline constexpr DiagnosticKind kBadStamps = {
    "chrome_trace.bad_stamps", Severity::kWarning,
    "an event has cycle stamps, and not five numbers TS1 to TS5; kept with the times of the host",
    "Look at the event at this place; it counts as work of the host."};
inline constexpr DiagnosticKind kStampsDisordered = {
    "chrome_trace.stamps_disordered", Severity::kWarning,
    "the cycle stamps of an event do not follow each other in time; kept with the times of the "
    "host",
    "Look at the event at this place: TS1 to TS5 must rise but for one wrap of 32 bits."};
inline constexpr DiagnosticKind kUnknownPhase = {
    "chrome_trace.unknown_phase", Severity::kInfo,
    "an event is of a phase that is not shown on a timeline; left out",
    "Nothing to do: samples, objects and marks of other tools are of no use here."};
inline constexpr DiagnosticKind kNeverEnded = {
    "chrome_trace.never_ended", Severity::kWarning,
    "an event begins and does not end; it is taken to last until the end of the file",
    "It ran when the recording stopped, or its end was lost."};
inline constexpr DiagnosticKind kNeverBegun = {
    "chrome_trace.never_begun", Severity::kWarning, "an event ends that did not begin; left out",
    "It began before the recording did, or its begin was lost."};

}  // namespace debrief::trace_events
