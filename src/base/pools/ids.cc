#include "base/pools/ids.h"

namespace debrief {

FrameId Pools::AddFrame(const Frame& frame) { return frames_.Intern(std::span(&frame, 1)); }

const Frame& Pools::GetFrame(FrameId id) const {
  static const Frame kNoFrame;
  auto found = frames_.Get(id);
  return found.empty() ? kNoFrame : found.front();
}

Remap Pools::Absorb(const Pools& other) {
  Remap remap;
  remap.strings = strings.Absorb(other.strings);
  remap.lists = lists.Absorb(other.lists);
  auto frames = frames_.Absorb(other.frames_, [&](Frame frame) {
    return Frame{remap(frame.file), remap(frame.function), frame.line, remap(frame.text)};
  });
  remap.stacks = stacks_.Absorb(
      other.stacks_, [&](FrameId frame) { return frames[static_cast<uint32_t>(frame)]; });
  return remap;
}

}  // namespace debrief
