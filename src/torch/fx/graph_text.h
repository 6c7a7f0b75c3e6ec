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

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "torch/fx/graph.h"
#include "torch/fx/names.h"

namespace debrief {

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
