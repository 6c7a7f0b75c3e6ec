#include "torch/fx/graph.h"

namespace debrief {

std::string_view FxOpName(FxOp op) {
  switch (op) {
    case FxOp::kPlaceholder:
      return "placeholder";
    case FxOp::kGetAttr:
      return "get_attr";
    case FxOp::kCallFunction:
      return "call_function";
    case FxOp::kCallMethod:
      return "call_method";
    case FxOp::kCallModule:
      return "call_module";
    case FxOp::kOutput:
      return "output";
    case FxOp::kUnknown:
      break;
  }
  return "unknown";
}

void GraphNodes::Clear() {
  nodes.clear();
  inputs.clear();
  places.assign(1, {});
  graphs.clear();
  texts.clear();
}

FxUsers UsersOf(const GraphNodes& graph) {
  FxUsers result;
  result.first.assign(graph.nodes.size() + 1, 0);
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    result.first[i + 1] = result.first[i] + graph.nodes[i].users;
  result.users.resize(result.first.back());
  std::vector<uint32_t> next(result.first.begin(), result.first.end() - 1);
  std::vector<uint32_t> last(graph.nodes.size(), UINT32_MAX);
  for (uint32_t user = 0; user < graph.nodes.size(); ++user) {
    for (const FxInput& input : graph.InputsOf(graph.nodes[user])) {
      if (last[input.node] == user) continue;
      last[input.node] = user;
      result.users[next[input.node]++] = user;
    }
  }
  return result;
}

}  // namespace debrief
