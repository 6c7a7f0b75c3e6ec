// The items of a tangled stretch, and all that is known of them so far. Common to all passes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "inputs/torch_trace/untangle.h"
#include "inputs/torch_trace/untangle/line.h"
#include "inputs/torch_trace/untangle/model.h"

namespace debrief::inputs::torch_trace {

using Digest = std::array<uint8_t, 16>;

struct Knowledge {
  Knowledge(std::span<const TangledItem> tangled, const std::vector<int32_t>& item_lanes,
            int32_t lane_count);

  std::span<const TangledItem> items;
  const std::vector<int32_t>& lanes;  // per item: lanes numbered from 0; -1 for lines
  int32_t lane_count;
  std::vector<Line> lines;         // per item
  std::vector<uint32_t> ends;      // per header: the next header of its lane, or the end
  std::vector<uint32_t> lines_to;  // per item: lines before it
  Model model;
  std::map<Digest, std::vector<uint32_t>> payloads;  // proved ones: items that hold their lines

  void Prove(const Digest& digest, std::vector<uint32_t> payload, int32_t lane);
};

}  // namespace debrief::inputs::torch_trace
