// What can be wrong with a memory snapshot.
#pragma once

#include "model/diagnostics.h"

namespace debrief::inputs::memory_snapshot {

inline constexpr DiagnosticKind kTruncated = {
    "memory_snapshot.truncated", Severity::kError,
    "the snapshot ends too early; whole blocks and trace entries are kept",
    "The process was killed while dumping, or the copy is incomplete; copy the file again."};
inline constexpr DiagnosticKind kCorrupt = {
    "memory_snapshot.corrupt", Severity::kError,
    "the snapshot is broken from here on; whole blocks and trace entries before are kept",
    "Copy the file again and compare its size with the original."};
inline constexpr DiagnosticKind kUnsafe = {
    "memory_snapshot.unsafe", Severity::kError,
    "the pickle asks to run code; nothing of it was run, reading stopped, and what was whole "
    "before "
    "is kept",
    "PyTorch's snapshots have no such opcode: the file is damaged, or someone else made it."};
inline constexpr DiagnosticKind kNoTrace = {
    "memory_snapshot.no_trace", Severity::kInfo,
    "the snapshot has no trace of allocations: what lived at the peak cannot be told",
    "Call torch.cuda.memory._record_memory_history() at the start of the program."};
inline constexpr DiagnosticKind kOddRows = {
    "memory_snapshot.odd_rows", Severity::kWarning,
    "a block or trace entry stands where none should; it belongs to no segment or device",
    "PyTorch writes no such snapshot; find out who made this file."};

}  // namespace debrief::inputs::memory_snapshot
