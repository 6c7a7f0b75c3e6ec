// The part of a stack that the reader wrote.
#pragma once

#include <span>
#include <string_view>

#include "base/pools/ids.h"

namespace debrief {

// Of C, C++ or CUDA, or of a library without debug information: stacks that were taken with native
// frames have them in front of and between those of Python.
bool IsNativeFile(std::string_view file);

// Of PyTorch, of another installed package, of Python itself, or written by a compiler; also of a
// trainer (Lightning, DeepSpeed, Accelerate) that runs from a checkout.
bool IsLibraryFile(std::string_view file);

// Who wrote a library file, for "12 frames of torch": the package, "Python" for the standard
// library, "libraries" for others; empty for a file that is no library's.
std::string_view PackageOf(std::string_view file);

// Of Python, and neither of PyTorch nor of another installed package.
bool IsUserFile(std::string_view file);

// From the innermost frame of Python on that belongs neither to PyTorch nor to another installed
// package; the whole stack when all of them do.
std::span<const FrameId> UserFrames(const Pools& pools, StackId stack);

}  // namespace debrief
