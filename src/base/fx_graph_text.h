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
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fx_value.h"
#include "base/status.h"

namespace debrief {

enum class FxOp : uint8_t {
  kPlaceholder,
  kGetAttr,
  kCallFunction,
  kCallMethod,
  kCallModule,
  kOutput,
  kUnknown,
};

// As torch.fx names it, for example call_function.
std::string_view FxOpName(FxOp op);

struct FxNode {
  std::string_view name;  // empty for the output
  FxOp op = FxOp::kUnknown;
  // Name of the input; torch.ops.aten.mm.default, operator.add; method; self.path of a module or
  // attribute.
  std::string_view target;
  std::string_view expression;  // right of the =, or behind return
  FxValue value;
  uint32_t first_input = 0;  // in GraphNodes::inputs
  uint32_t input_count = 0;
  uint32_t users = 0;  // nodes that use it
  uint32_t graph = 0;  // 0: the outermost
  uint32_t place = 0;  // in GraphNodes::places

  bool is_call() const {
    return op == FxOp::kCallFunction || op == FxOp::kCallMethod || op == FxOp::kCallModule;
  }
};

// One place in the expression of a node where another node is named.
struct FxInput {
  uint32_t node = 0;
  std::string_view name;  // in the expression
};

// Where in the user's program a node comes from.
struct FxPlace {
  std::string_view file;
  uint32_t line = 0;
  std::string_view function;
  std::string_view code;
};

struct GraphNodes {
  std::vector<FxNode> nodes;
  std::vector<FxInput> inputs;           // of all nodes, in the order of their expressions
  std::vector<FxPlace> places;           // the first is empty
  std::vector<std::string_view> graphs;  // names of the classes
  std::deque<std::string> texts;         // targets that do not stand in the text as they are

  std::span<const FxInput> InputsOf(const FxNode& node) const {
    return {inputs.data() + node.first_input, node.input_count};
  }
  const FxPlace& PlaceOf(const FxNode& node) const { return places[node.place]; }
  void Clear();
};

// For many graphs: memory is used again.
class FxGraphParser {
 public:
  // Replaces `graph`, whose views point into `text`. An error when there is no graph in it.
  Status Parse(std::string_view text, GraphNodes& graph);

 private:
  friend class FxGraphReader;

  // Names of the nodes of one graph. Open addressing; a new generation empties it.
  struct Slot {
    std::string_view name;
    uint32_t node = 0;
    uint32_t generation = 0;
  };
  static constexpr uint32_t kNoNode = ~0U;
  uint32_t Find(std::string_view name) const;
  void Set(std::string_view name, uint32_t node);
  void Grow();
  void ForgetNames();

  std::vector<Slot> slots_;
  size_t used_ = 0;
  uint32_t generation_ = 1;
  std::vector<uint32_t> last_user_;  // by node, so that a user counts once
};

Result<GraphNodes> ParseGraph(std::string_view text);

// For each node the nodes that use it, each once: users[first[i]] ... users[first[i + 1] - 1].
struct FxUsers {
  std::vector<uint32_t> first;
  std::vector<uint32_t> users;
};
FxUsers UsersOf(const GraphNodes& graph);

}  // namespace debrief
