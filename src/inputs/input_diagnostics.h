// Kinds of trouble that inputs have whatever their format. Names are stable: scripts and tests use
// them.
#pragma once

#include "model/diagnostics.h"

namespace debrief {

inline constexpr DiagnosticKind kInputEmpty = {
    "input.empty", Severity::kWarning, "the file is empty",
    "Check whether the process could write: disk full, killed at start?"};
inline constexpr DiagnosticKind kInputNotAFile = {
    "input.not_a_file", Severity::kWarning,
    "neither a file nor a folder (a fifo, socket or device); not opened",
    "Copy its content to a file, or pipe it into `debrief -`."};
inline constexpr DiagnosticKind kInputUnreadable = {
    "input.unreadable", Severity::kError, "it cannot be opened or read",
    "Check the permissions, or run as the user who owns it."};
inline constexpr DiagnosticKind kInputSymlinkLoop = {
    "input.symlink_loop", Severity::kWarning,
    "a symbolic link leads back to a folder above it; not followed",
    "Nothing is lost; remove the link to silence this."};
inline constexpr DiagnosticKind kInputLinkLeaves = {
    "input.link_leaves", Severity::kWarning,
    "a symbolic link leads outside of what was named; not followed",
    "Name what it leads to on the command line if it belongs to the job."};
inline constexpr DiagnosticKind kInputSeen = {"input.seen_already", Severity::kInfo,
                                              "it was reached by another path; read once",
                                              "Nothing is lost."};
inline constexpr DiagnosticKind kInputOwnOutput = {
    "input.own_output", Severity::kInfo, "a folder that debrief wrote; not an input",
    "Name it explicitly with `debrief query` to read it."};
inline constexpr DiagnosticKind kInputUnknown = {"input.unknown", Severity::kInfo,
                                                 "no importer knows this kind of file",
                                                 "See `debrief list inputs`; if it should be one "
                                                 "of those, the file is damaged at its beginning."};
inline constexpr DiagnosticKind kInputChanged = {
    "input.changed", Severity::kError,
    "the file became shorter while it was read; the rest is lost",
    "Wait until the job has ended, or copy the file first."};
inline constexpr DiagnosticKind kInputRankDisagrees = {
    "input.rank_disagrees", Severity::kWarning,
    "file name and content name different ranks; the name was believed",
    "Rename the file if its name is wrong."};
inline constexpr DiagnosticKind kInputNoMemory = {
    "input.no_memory", Severity::kError, "memory or threads ran out while it was read; left out",
    "Give debrief more memory or threads (ulimit -v, ulimit -u), or name fewer inputs."};
inline constexpr DiagnosticKind kInputFailed = {"input.failed", Severity::kError,
                                                "the importer gave up; what it read before is kept",
                                                "Look at the place named here."};
inline constexpr DiagnosticKind kInputTooDeep = {
    "input.too_deep", Severity::kError,
    "archives inside archives inside archives; not unpacked further",
    "Unpack it by hand and name the folder."};

inline constexpr DiagnosticKind kGzipTruncated = {
    "gzip.truncated", Severity::kError, "the gzip stream ends too early; what came before is kept",
    "Copy the file again, or wait until it is written completely."};
inline constexpr DiagnosticKind kGzipCorrupt = {
    "gzip.corrupt", Severity::kError, "the gzip stream is damaged; what came before is kept",
    "Copy the file again."};
inline constexpr DiagnosticKind kGzipBomb = {
    "gzip.expands_too_much", Severity::kError,
    "the gzip stream expands far beyond what data does; stopped",
    "If it is genuine, unpack it by hand."};
inline constexpr DiagnosticKind kZstdTruncated = {
    "zstd.truncated", Severity::kError, "the zstd stream ends too early; what came before is kept",
    "Copy the file again, or wait until it is written completely."};
inline constexpr DiagnosticKind kZstdCorrupt = {
    "zstd.corrupt", Severity::kError, "the zstd stream is damaged; what came before is kept",
    "Copy the file again."};
inline constexpr DiagnosticKind kZstdBomb = {
    "zstd.expands_too_much", Severity::kError,
    "the zstd stream expands far beyond what data does; stopped",
    "If it is genuine, unpack it by hand."};
inline constexpr DiagnosticKind kArchiveDamaged = {
    "archive.damaged", Severity::kError,
    "the archive is damaged or cut; members before that are kept", "Copy the archive again."};
inline constexpr DiagnosticKind kArchiveBomb = {
    "archive.expands_too_much", Severity::kError,
    "a member expands far beyond what data does; stopped",
    "If it is genuine, unpack the archive by hand."};
inline constexpr DiagnosticKind kArchiveUnsafeName = {
    "archive.unsafe_name", Severity::kWarning,
    "a member's name leads outside of the archive; nothing is ever written there",
    "Be careful when unpacking this archive with other tools."};
inline constexpr DiagnosticKind kSpillFull = {"input.no_space", Severity::kError,
                                              "no room to unpack it",
                                              "Free some disk, or point TMPDIR to a larger one."};

}  // namespace debrief
