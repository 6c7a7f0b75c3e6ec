// What can be wrong with a Flight Recorder dump.
#pragma once

#include "model/diagnostics.h"

namespace debrief::inputs::flight_recorder {

inline constexpr DiagnosticKind kTruncated = {
    "flight_recorder.truncated", Severity::kError,
    "the dump ends too early; whole entries are kept",
    "The process was killed while dumping, or the copy is incomplete; copy the file again."};
inline constexpr DiagnosticKind kCorrupt = {
    "flight_recorder.corrupt", Severity::kError,
    "the dump is broken from here on; whole entries before are kept",
    "Copy the file again and compare its size with the original."};
inline constexpr DiagnosticKind kUnsafe = {
    "flight_recorder.unsafe", Severity::kError,
    "the pickle asks to run code; nothing of it was run, and reading stopped",
    "Flight Recorder writes no such opcode; find out who made this file."};
inline constexpr DiagnosticKind kNotFromStart = {
    "flight_recorder.not_from_start", Severity::kInfo,
    "the first entry is not record 0: older ones fell out of the ring or were not dumped",
    "Raise TORCH_FR_BUFFER_SIZE, or unset TORCH_INCLUDE_ONLY_ACTIVE, to see more."};
inline constexpr DiagnosticKind kUnknownVersion = {
    "flight_recorder.unknown_version", Severity::kInfo,
    "the schema is newer than this reader; what it knows was read",
    "Compare the release notes of PyTorch, or update debrief."};
inline constexpr DiagnosticKind kNoEntries = {
    "flight_recorder.no_entries", Severity::kWarning,
    "the dump has no entries although its counters show collectives",
    "Set TORCH_FR_BUFFER_SIZE above 0 and dump with collectives included."};
inline constexpr DiagnosticKind kBeforeFirst = {
    "flight_recorder.before_first_collective", Severity::kWarning,
    "the dump has no entries and no group: it was written before the first collective",
    "The rank was asked for a dump at its start, or TORCH_FR_BUFFER_SIZE is 0; its output says "
    "which."};
inline constexpr DiagnosticKind kNothingActive = {
    "flight_recorder.nothing_active", Severity::kInfo,
    "the dump has no entries and its counters show that all collectives were completed",
    "Only active entries were dumped; unset TORCH_INCLUDE_ONLY_ACTIVE to see completed ones."};
inline constexpr DiagnosticKind kNoCounters = {
    "flight_recorder.no_counters", Severity::kInfo,
    "the dump has groups, no entries and no counters: nothing was in flight, or nothing was begun",
    "Dump completed entries too, to see how far the rank came."};
inline constexpr DiagnosticKind kBadEntry = {
    "flight_recorder.bad_entry", Severity::kError,
    "an entry has no profiling_name, or is no entry; left out", "Look at the entry at this place."};
inline constexpr DiagnosticKind kTwin = {
    "flight_recorder.twin", Severity::kInfo,
    "another dump of the same recorder has more and was used instead",
    "Nothing is lost; delete this file to read one less."};
inline constexpr DiagnosticKind kTwinDiffers = {
    "flight_recorder.twin_differs", Severity::kWarning,
    "two dumps of one recorder, made at different times, differ; the one with more is used",
    "They were made at different times; keep the one made when the job hung."};

}  // namespace debrief::inputs::flight_recorder
