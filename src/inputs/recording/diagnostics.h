// What can be wrong with a recording.
#pragma once

#include "model/diagnostics.h"

namespace debrief::inputs::recording {

inline constexpr DiagnosticKind kNoHeader = {
    "recording.no_header", Severity::kError, "the file has no whole header of a recording",
    "The program died while it opened the recording, or the file was cut; record again."};
inline constexpr DiagnosticKind kOtherVersion = {
    "recording.other_version", Severity::kError,
    "the recording is of a version that is not read here", "Use the debrief it came with."};
inline constexpr DiagnosticKind kCutFile = {
    "recording.cut", Severity::kError,
    "the file ends inside of a chunk; records up to there are kept",
    "Copy the file again when it was copied while the program ran."};
inline constexpr DiagnosticKind kBadChunk = {"recording.bad_chunk", Severity::kError,
                                             "no chunk begins where one should; left out",
                                             "Copy the file again; the other chunks are read."};
inline constexpr DiagnosticKind kBadHead = {
    "recording.bad_head", Severity::kError,
    "a chunk says that more is published than it holds; what it holds is read",
    "Copy the file again; the other chunks are read."};
inline constexpr DiagnosticKind kBadRecord = {
    "recording.bad_record", Severity::kError,
    "a record has a length that does not fit; the rest of its chunk is left out",
    "Copy the file again; the other chunks are read."};
inline constexpr DiagnosticKind kBadText = {"recording.bad_text", Severity::kWarning,
                                            "the parts of a name do not fit together",
                                            "Copy the file again; the records are kept."};
inline constexpr DiagnosticKind kUnknownName = {
    "recording.unknown_name", Severity::kWarning,
    "a record has a name or device that the file does not spell; kept by its number",
    "Copy the file again; in a snapshot the name may have come later."};
inline constexpr DiagnosticKind kUnreadable = {"recording.unreadable", Severity::kError,
                                               "bytes of the file could not be read",
                                               "Check the disk, and whether the file was cut."};
inline constexpr DiagnosticKind kOverwritten = {
    "recording.overwritten", Severity::kWarning,
    "the ring was full and took back the oldest records",
    "Give the recording more room (max_bytes) to see further back."};
inline constexpr DiagnosticKind kDropped = {
    "recording.dropped", Severity::kWarning, "there was no room for some records",
    "Give the recording more room (max_bytes), or let it be a ring."};
inline constexpr DiagnosticKind kLostNames = {
    "recording.lost_names", Severity::kWarning,
    "there was no room for some names; their records have none",
    "Use fewer different names, or give the recording more room (max_bytes)."};
inline constexpr DiagnosticKind kStopped = {
    "recording.stopped", Severity::kWarning,
    "the file could not grow, for example since the disk was full",
    "Record to a disk with room; what was recorded before is whole."};
inline constexpr DiagnosticKind kNeverClosed = {
    "recording.never_closed", Severity::kInfo,
    "the program did not close the recording: it was killed, or is still running",
    "Nothing is lost: every record that was made is in the file."};
inline constexpr DiagnosticKind kNeverBegun = {
    "recording.never_begun", Severity::kInfo,
    "an end has no begin in the recording: it was overwritten or dropped; left out",
    "Give the recording more room (max_bytes)."};
inline constexpr DiagnosticKind kBackwards = {
    "recording.backwards", Severity::kWarning,
    "a span ends before it begins; kept without a duration",
    "Give dbr_span() and dbr_op() two values of dbr_now(), the earlier first."};
inline constexpr DiagnosticKind kWallClockSet = {
    "recording.wall_clock_set", Severity::kInfo,
    "the wall clock was set while the recording ran; its times keep to the steady clock",
    "Nothing is lost; times of day may be off by that much."};
inline constexpr DiagnosticKind kClockContradicts = {
    "recording.clock_contradicts", Severity::kWarning,
    "the times of a chunk contradict the header's; its clock was not believed",
    "Copy the file again; the processor's counter may not be steady."};
inline constexpr DiagnosticKind kShapesLeftOut = {
    "recording.shapes_left_out", Severity::kInfo,
    "an op had more shapes or dims than a record holds; kept without them",
    "Nothing else is lost."};
inline constexpr DiagnosticKind kTooLarge = {
    "recording.too_large", Severity::kWarning,
    "a product of dims does not fit 63 bits; the largest number is shown instead",
    "Look at the shapes of the op."};

}  // namespace debrief::inputs::recording
