// Rows of memory_holder: what held memory at a moment, largest first.
#pragma once

#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/memory/use/devices.h"
#include "analyses/memory/use/replay.h"
#include "tables/memory_holder.h"

namespace debrief::analyses::memory_use {

// The frame of a stack to look at; kNone for a stack without frames. Stacks of the autograd engine
// have no frame of Python at all; their innermost frames are the recorder and the allocator.
FrameId FrameToShow(const Pools& pools, StackId stack);

// Writes rows with stacks and texts translated into the pools of the result.
class HolderRows {
 public:
  HolderRows(const Model& model, Part& part) : model_(model), part_(part) {}

  void AddMoment(const DeviceKey& key, const Device& device, std::string_view moment,
                 const Holders& holders);
  // What lives when the snapshot is taken, by pool.
  void AddEnd(const DeviceKey& key, const Device& device);

 private:
  struct Line {
    StringId pool = StringId::kNone;  // of the model
    StackId stack = StackId::kNone;   // of the model
    Held held;
  };

  void Add(const DeviceKey& key, const Device& device, std::string_view moment,
           std::vector<Line> lines);
  StackId Copy(StackId stack);
  StringId Copy(StringId text);
  StringId FrameText(StackId stack);

  const Model& model_;
  Part& part_;
  std::unordered_map<StackId, std::pair<StackId, StringId>> copies_;  // stack and its frame's text
  std::unordered_map<FrameId, FrameId> frames_;
};

}  // namespace debrief::analyses::memory_use
