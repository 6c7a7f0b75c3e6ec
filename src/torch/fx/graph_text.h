// Graphs as torch.fx prints them (GraphModule.print_readable), the payloads of TORCH_TRACE:
//
//   class GraphModule(torch.nn.Module):
//       def forward(self, L_x_: "f32[4, 64][64, 1]cuda:0"):
//           l_x_ = L_x_
//           # File: x.py:27 in forward, code: y = f(x)
//           sum_1: "f32[][]cuda:0" = l_x_.sum();  l_x_ = None
//           return (sum_1,)
//       class body_0(torch.nn.Module): ...            a graph inside of it
//
// One pass, linear; the nodes point into the text. What is not understood is a node with op
// kUnknown. The text may have a tab before each line, as it stands in a log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "torch/fx/graph.h"

namespace debrief {

// Which node has which name, for one graph after the other.
//
// Open addressing with linear probing. Slots remember the generation that wrote them, so that
// forgetting everything costs nothing; std::unordered_map would free and make a node for each name.
class FxNames {
 public:
  static constexpr uint32_t kNoNode = ~0U;

  uint32_t Find(std::string_view name) const;
  void Set(std::string_view name, uint32_t node);
  void Clear();

 private:
  struct Slot {
    std::string_view name;
    uint32_t node = 0;
    uint32_t generation = 0;
  };
  void Grow();

  std::vector<Slot> slots_;  // a power of two, at most half of them used
  size_t used_ = 0;
  uint32_t generation_ = 1;
};

// For many graphs: memory is used again.
class FxGraphParser {
 public:
  // Replaces `graph`, whose views point into `text`. An error when there is no graph in it.
  Status Parse(std::string_view text, GraphNodes& graph);

 private:
  FxNames names_;                    // of the nodes of one graph
  std::vector<uint32_t> last_user_;  // by node, so that a user counts once
};

Result<GraphNodes> ParseGraph(std::string_view text);

}  // namespace debrief
