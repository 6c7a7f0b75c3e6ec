// A graph of operations: nodes that use each other, as torch.fx has them. The texts of the nodes
// are views of the text that was parsed (torch/fx/graph_text.h), which must outlive them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/scan.h"

namespace debrief {

// What torch.fx writes beside a value: "f32[4, s27, 128][128*s27, 128, 1]cuda:0", "Sym(s27)".
struct FxValue {
  std::string_view text;     // all of it; empty when nothing is told
  std::string_view dtype;    // f32; Sym; any other text as it is
  std::string_view sizes;    // 4, s27, 128; the expression of a Sym
  std::string_view strides;  // 128*s27, 128, 1
  std::string_view device;   // cuda:0
  bool is_tensor = false;
};

FxValue ReadFxValue(std::string_view text);

// Bytes of a tensor; 0 for a Sym; nullopt when a size is no number, the type is not known, or more
// bytes than an int64_t counts.
std::optional<int64_t> FxBytes(const FxValue& value);

// "cuda:0" -> "cuda".
std::string_view WithoutDeviceIndex(std::string_view device);

// Calls `found(symbol)` for each s27, u0, zuf3 in the sizes and strides.
template <typename Found>
void ForEachFxSymbol(std::string_view text, Found found) {
  for (size_t at = 0; at < text.size();) {
    if (!IsWord(text[at])) {
      ++at;
      continue;
    }
    size_t begin = at;
    while (at < text.size() && IsWord(text[at])) ++at;
    std::string_view word = text.substr(begin, at - begin);
    if (IsDigit(word[0])) continue;
    size_t letters = word.starts_with("zuf") || word.starts_with("zf") ? word.find('f') + 1
                     : word[0] == 's' || word[0] == 'u'                ? 1
                                                                       : 0;
    if (letters == 0 || letters == word.size()) continue;
    bool symbol = true;
    for (char c : word.substr(letters)) symbol = symbol && IsDigit(c);
    if (symbol) found(word);
  }
}

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

// What the name of a graph's input tells of where it comes from. Dynamo makes the name from the
// expression by putting _ for everything that is no letter or digit:
//
//   L['self']._modules['ln1']._parameters['weight']  ->  L_self_modules_ln1_parameters_weight_
//   L['x']                                           ->  L_x_
//
// This is a guess: an underscore in a name cannot be told from a dot.
struct FxInputSource {
  std::string path;   // self.ln1.weight; x; empty when the name does not tell
  size_t module = 0;  // bytes of it that are the module: self.ln1; 0 for what is in no module
  bool is_parameter = false;
  bool is_buffer = false;

  std::string_view module_path() const { return std::string_view(path).substr(0, module); }
  std::string_view leaf() const;  // weight
};

FxInputSource GuessInputSource(std::string_view name);

}  // namespace debrief
