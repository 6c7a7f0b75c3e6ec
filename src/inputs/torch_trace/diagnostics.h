// What can be wrong with a TORCH_TRACE log.
#pragma once

#include "model/diagnostics.h"

namespace debrief::inputs::torch_trace {

inline constexpr DiagnosticKind kBadPrefix = {
    "torch_trace.no_prefix", Severity::kWarning,
    "lines are neither an entry nor the payload of one",
    "Other output was mixed into the log, or an entry before them is broken; the rest was read."};

inline constexpr DiagnosticKind kBadJson = {
    "torch_trace.bad_json", Severity::kError, "the JSON of an entry is broken",
    "The entry is lost, the rest was read. Copy the log again if it was cut or edited."};

inline constexpr DiagnosticKind kBadField = {
    "torch_trace.bad_field", Severity::kError,
    "an entry has a field of a type that this version does not know",
    "The entry is in raw.jsonl only. Report it if the log comes from a newer PyTorch."};

inline constexpr DiagnosticKind kBadChecksum = {
    "torch_trace.bad_checksum", Severity::kWarning, "a payload does not match its checksum",
    "The payload is shown as it is; it was cut, edited, or mixed with the output of another "
    "process."};

inline constexpr DiagnosticKind kUnusable = {"torch_trace.unusable", Severity::kWarning,
                                             "the content of an entry cannot be shown",
                                             "The payload is kept as it is under payloads/."};

inline constexpr DiagnosticKind kUnknownKey = {
    "torch_trace.unknown_key", Severity::kInfo, "entries of a kind that this version does not read",
    "They are listed and kept in raw.jsonl; a newer version may read them."};

inline constexpr DiagnosticKind kBadText = {"torch_trace.not_utf8", Severity::kWarning,
                                            "a line of an entry has bytes that are no UTF-8",
                                            "The bytes are shown as U+FFFD; all else was read."};

inline constexpr DiagnosticKind kBigIndex = {
    "torch_trace.string_index", Severity::kWarning,
    "the string table has an index far beyond the number of its texts",
    "The text is not used. No PyTorch writes such a log."};

inline constexpr DiagnosticKind kSearchEnded = {
    "torch_trace.search_ended", Severity::kWarning,
    "lines of several ranks are mixed, and the search for their order reached its limit",
    "Payloads that were not proved by then are incomplete. Let each rank write a log of its own "
    "(TORCH_TRACE does)."};

inline constexpr DiagnosticKind kTangled = {
    "torch_trace.tangled", Severity::kWarning,
    "lines of several ranks are mixed, and no order of them fits a checksum",
    "These payloads are incomplete. Let each rank write a log of its own (TORCH_TRACE does)."};

}  // namespace debrief::inputs::torch_trace
