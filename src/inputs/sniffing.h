// Small questions that several sniffers ask of the first bytes of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "inputs/importer.h"

namespace debrief {

// As Contains(), for the head of a file: memmem looks at several bytes of the word at once, where
// find() stops at every byte that the word begins with.
bool HasWord(std::string_view text, std::string_view word);

// Begins like a Python pickle of any protocol (0x80 and a version, or an opening opcode of protocol
// 0/1).
bool LooksLikePickle(std::string_view head);

// Readable text: no two NULs in a row and hardly any control characters.
bool LooksLikeText(std::string_view head);

// Notes into which somebody pasted what ranks printed: a line behind PyTorch's own mark of a rank,
// between fences. Documents of a project (README.md, docs/) quote errors, too.
bool MayBeNote(std::string_view path);
bool HasPastedOutput(std::string_view head);

// The first line that is not blank and no command as a shell shows it ("$ ncclras", "+ nvidia-smi
// ...", "me@n1:~$ sacct"): what was pasted with it.
std::string_view FirstPrinted(std::string_view head);

// Trace Event Format: an object with traceEvents, or a bare array of events.
bool LooksLikeTraceEvents(const SniffInput& input);

// Events carry the cycle stamps TS1..TS5 of an AIU, and the file is no PyTorch profile (those name
// their devices).
bool HasCycleStamps(const SniffInput& input);

// Rank, world size and begin as a trace event document tells them; `mine` is set.
Recognition RecogniseTrace(const JsonOutline& json);

// The whole number that starts at text[at], or nothing.
std::optional<int64_t> NumberAt(std::string_view text, size_t at);

// A rank or world size as a file tells it; none when it is negative (not distributed) or absurd.
int32_t RankOrNone(std::optional<int64_t> number);

// Any other small number; none when it is negative or needs more than 31 bits.
int32_t CountOrNone(std::optional<int64_t> number);

// The pid of a trace event; none when it is so small that it counts devices.
int64_t ProcessOf(std::optional<int64_t> number);

// Microseconds since 1970 as nanoseconds; none when the number is no time between 2001 and 2262
// (other clocks start at boot, so their numbers are far smaller).
int64_t UnixMicrosToNs(int64_t micros);

}  // namespace debrief
