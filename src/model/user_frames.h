// The part of a stack that the reader wrote.
#pragma once

#include <span>
#include <string_view>

#include "model/ids.h"

namespace debrief {

// From the innermost frame on that belongs neither to PyTorch nor to another installed package; the
// whole stack when all of them do.
std::span<const FrameId> UserFrames(const Pools& pools, StackId stack);

}  // namespace debrief
