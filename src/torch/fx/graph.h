// A graph of operations: nodes that use each other, as torch.fx has them. The texts of the nodes
// are views of the text that was parsed (torch/fx/graph_text.h), which must outlive them.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "torch/fx/value.h"

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

// For each node the nodes that use it, each once: users[first[i]] ... users[first[i + 1] - 1].
struct FxUsers {
  std::vector<uint32_t> first;
  std::vector<uint32_t> users;
};
FxUsers UsersOf(const GraphNodes& graph);

}  // namespace debrief
