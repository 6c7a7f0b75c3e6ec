// What one expression of a graph does: the call, operator or attribute that it is.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "torch/fx/graph.h"

namespace debrief {

// The longest path at the beginning of `text`: torch.ops.aten.mm, x.shape, or what torch.fx writes
// for names that are no identifiers, getattr(self.blocks, "0").weight.
struct FxPath {
  std::string_view path;  // self.blocks.0.weight
  std::string_view rest;  // what follows it
};
FxPath ReadFxPath(std::string_view text, std::deque<std::string>& texts);

// What a pass over the tokens of an expression finds.
struct FxScan {
  std::string_view binary;  // first operator outside of brackets that has a left side
  bool ends_with_bracket =
      false;  // the first bracket outside of others is closed by the last token
};

// operator.add for "+"; empty when there is no such operator.
std::string_view FxBinaryTarget(std::string_view sign);
std::string_view FxUnaryTarget(std::string_view expression);
// operator.iadd for "+=".
std::string_view FxInPlaceTarget(std::string_view sign);

// True when the bracket that `text` begins with is closed by its last character.
bool IsOneBracket(std::string_view text);

// Sets op and target of `node` from its expression. `is_node` says whether a name is a node.
template <typename IsNode>
void ClassifyFx(FxNode& node, const FxScan& scan, std::deque<std::string>& texts, IsNode is_node) {
  auto set = [&](FxOp op, std::string_view target) {
    node.op = target.empty() ? FxOp::kUnknown : op;
    node.target = target;
  };
  if (!scan.binary.empty()) return set(FxOp::kCallFunction, FxBinaryTarget(scan.binary));
  auto [path, rest] = ReadFxPath(node.expression, texts);
  if (path.empty()) return set(FxOp::kCallFunction, FxUnaryTarget(node.expression));
  size_t dot = path.find('.');
  bool of_self = path.starts_with("self.");
  bool of_node = !of_self && is_node(path.substr(0, dot));
  if (rest.empty()) {
    if (of_self) return set(FxOp::kGetAttr, path);
    return set(FxOp::kCallFunction, of_node && dot != path.npos ? "getattr" : "");
  }
  bool plain = path.data() == node.expression.data();
  if (!(plain ? scan.ends_with_bracket : IsOneBracket(rest))) return set(FxOp::kUnknown, "");
  if (rest[0] == '[') return set(FxOp::kCallFunction, of_node ? "operator.getitem" : "");
  if (rest[0] != '(') return set(FxOp::kUnknown, "");
  if (of_self) return set(FxOp::kCallModule, path);
  if (of_node && dot != path.npos) return set(FxOp::kCallMethod, path.substr(dot + 1));
  set(FxOp::kCallFunction, path);
}

}  // namespace debrief
