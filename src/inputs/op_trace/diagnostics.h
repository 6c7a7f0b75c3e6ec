// What can be wrong with an op trace.
#pragma once

#include "model/diagnostics.h"

namespace debrief::inputs::op_trace {

inline constexpr DiagnosticKind kNoEntries = {"op_trace.no_entries", Severity::kError,
                                              "the document has no list of entries",
                                              "Check that the recorder finished writing the file."};
inline constexpr DiagnosticKind kTruncated = {
    "op_trace.truncated", Severity::kError,
    "the list of entries does not end; whole entries are kept",
    "The program was killed while writing; record to a .dbr file to lose nothing."};
inline constexpr DiagnosticKind kBadEntry = {
    "op_trace.bad_entry", Severity::kError,
    "an entry is not an object with an operation, or its JSON is broken; left out",
    "Look at the entry at this place."};
inline constexpr DiagnosticKind kNoDuration = {
    "op_trace.no_duration", Severity::kWarning,
    "an entry has no duration (null, NaN or text); kept without one",
    "The recorder wrote NaN or infinity; fix its clock."};
inline constexpr DiagnosticKind kOutOfRange = {
    "op_trace.out_of_range", Severity::kWarning,
    "a number is negative or does not fit 63 bits; kept as null",
    "A product of dimensions overflowed in the recorder."};
inline constexpr DiagnosticKind kTotalDisagrees = {
    "op_trace.total_disagrees", Severity::kWarning,
    "total_duration_us is not the sum of the entries; the sum is used",
    "Nothing is lost; the recorder's total was edited or miscounted."};

}  // namespace debrief::inputs::op_trace
