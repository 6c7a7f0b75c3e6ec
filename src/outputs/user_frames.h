// The part of a stack that the reader wrote.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "model/ids.h"

namespace debrief {

// From the innermost frame that is not PyTorch's own on; the whole stack when all of them are.
inline std::span<const FrameId> UserFrames(const Pools& pools, StackId stack) {
  const std::span<const FrameId> frames = pools.GetStack(stack);
  const auto first = std::find_if(frames.begin(), frames.end(), [&](FrameId id) {
    const std::string_view file = pools.Text(pools.GetFrame(id).file);
    return file.find("/torch/") == std::string_view::npos && !file.starts_with("torch/");
  });
  if (first == frames.end()) return frames;
  return frames.subspan(static_cast<size_t>(first - frames.begin()));
}

}  // namespace debrief
