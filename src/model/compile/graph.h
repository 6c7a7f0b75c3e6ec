// Which compilation an entry of a TORCH_TRACE log belongs to, as a name that a folder can have.
#pragma once

#include <cstddef>
#include <string>

namespace debrief {

class CompileEntryTable;

// "-_0_1_0": compiled autograd, frame, compilation of the frame and attempt, each "-" when absent.
// An entry whose id is broken is alone: "unknown_17", by its line.
std::string GraphDirectory(const CompileEntryTable& entries, size_t row);

}  // namespace debrief
