// What can be wrong with a Perfetto trace.
#pragma once

#include "model/diagnostics.h"

namespace debrief::inputs::perfetto {

inline constexpr DiagnosticKind kTruncated = {
    "perfetto.truncated", Severity::kError, "the file ends in the middle of a packet; left out",
    "Copy the file again, or wait until it is written completely."};
inline constexpr DiagnosticKind kGap = {
    "perfetto.gap", Severity::kError, "bytes that are no packet; reading went on behind them",
    "Copy the file again; the packets before and after are read."};
inline constexpr DiagnosticKind kBadPacket = {
    "perfetto.bad_packet", Severity::kError,
    "a packet is not made of protobuf fields, or nests too deep; left out",
    "Look at the bytes there; the other packets are read."};
inline constexpr DiagnosticKind kOtherPacket = {
    "perfetto.other_packet", Severity::kInfo,
    "a packet holds no events, tracks or clocks (for example scheduling of the kernel); left out",
    "Nothing to do: look at these with Perfetto itself."};
inline constexpr DiagnosticKind kBadCompression = {
    "perfetto.bad_compression", Severity::kError,
    "a block of compressed packets cannot be unpacked",
    "Copy the file again; the packets before and after are read."};
inline constexpr DiagnosticKind kLostState = {
    "perfetto.lost_state", Severity::kError,
    "a packet needs names that were lost before it; left out",
    "Record with a larger buffer: packets were overwritten or dropped while recording."};
inline constexpr DiagnosticKind kUnknownName = {
    "perfetto.unknown_name", Severity::kWarning,
    "an event has the number of a name that was not recorded; kept under that number",
    "Record with a larger buffer: packets were overwritten or dropped while recording."};
inline constexpr DiagnosticKind kNoTime = {
    "perfetto.no_time", Severity::kError,
    "an event has no usable time, or that of a clock that no snapshot relates to the others; left "
    "out",
    "Record with clock snapshots (Perfetto's default)."};
inline constexpr DiagnosticKind kUnknownEvent = {
    "perfetto.unknown_event", Severity::kInfo,
    "an event is of a type that is not shown on a timeline; left out", "Nothing to do."};
inline constexpr DiagnosticKind kNeverEnded = {
    "perfetto.never_ended", Severity::kWarning,
    "a slice begins and does not end; it is taken to last until the end of the file",
    "It ran when the recording stopped, or its end was lost."};
inline constexpr DiagnosticKind kNeverBegun = {
    "perfetto.never_begun", Severity::kWarning, "a slice ends that did not begin; left out",
    "It began before the recording did, or its begin was lost."};

}  // namespace debrief::inputs::perfetto
