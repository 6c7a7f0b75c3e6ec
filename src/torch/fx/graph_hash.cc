#include "torch/fx/graph_hash.h"

#include <array>
#include <charconv>
#include <unordered_map>

#include "base/bytes/md5.h"
#include "torch/fx/tokens.h"

namespace debrief {

namespace {

using Kind = FxToken::Kind;

bool IsAllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

std::string_view InQuotes(std::string_view text) {
  return text.size() < 2 ? std::string_view() : text.substr(1, text.size() - 2);
}

class Normalizer {
 public:
  Normalizer(const GraphNodes& graph, std::string& text, bool numbered)
      : graph_(graph), text_(text), numbered_(numbered) {}

  void Add(const FxNode& node) {
    text_ += static_cast<char>('0' + static_cast<int>(node.op));
    if (numbered_ && node.graph != 0) AddNumber(node.graph);
    if (node.op != FxOp::kPlaceholder) text_ += node.target;
    AddValue(node.value);
    if (node.op != FxOp::kGetAttr) AddExpression(node);
    text_ += '\n';
  }

 private:
  void AddNumber(size_t number) {
    std::array<char, 24> digits;
    char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text_.append(digits.data(), static_cast<size_t>(end - digits.data()));
  }

  void AddValue(const FxValue& value) {
    text_ += '|';
    text_ += value.dtype;
    text_ += '[';
    AddSizes(value.sizes);
    text_ += '[';
    AddSizes(value.strides);
    text_ += ']';
    text_ += WithoutDeviceIndex(value.device);
    text_ += '|';
  }

  void AddSizes(std::string_view sizes) {
    const char* from = sizes.data();
    ForEachFxSymbol(sizes, [&](std::string_view symbol) {
      text_.append(from, static_cast<size_t>(symbol.data() - from));
      text_ += '$';
      if (numbered_) AddNumber(symbols_.try_emplace(symbol, symbols_.size()).first->second);
      from = symbol.data() + symbol.size();
    });
    text_.append(from, static_cast<size_t>(sizes.data() + sizes.size() - from));
  }

  void AddExpression(const FxNode& node) {
    std::span<const FxInput> inputs = graph_.InputsOf(node);
    collective_ = node.target.find("c10d") != std::string_view::npos;
    std::array<std::string_view, 2> before;
    FxTokens tokens(node.expression);
    for (FxToken token = tokens.Next(); token.kind != Kind::kEnd; token = tokens.Next()) {
      if (!inputs.empty() && token.text.data() == inputs[0].name.data()) {
        text_ += '%';
        if (numbered_) AddNumber(inputs[0].node);
        inputs = inputs.subspan(1);
      } else {
        AddLiteral(token, before);
      }
      text_ += ' ';
      before = {before[1], token.text};
    }
  }

  void AddLiteral(const FxToken& token, const std::array<std::string_view, 2>& before) {
    if (token.kind == Kind::kNumber && IsVolatile(token.text, before)) return;
    if (token.kind != Kind::kString) return static_cast<void>(text_ += token.text);
    std::string_view inside = InQuotes(token.text);
    text_ += '\'';
    if (collective_ && IsAllDigits(inside)) {
      if (numbered_) AddNumber(groups_.try_emplace(inside, groups_.size()).first->second);
    } else {
      text_ += WithoutDeviceIndex(inside);
    }
  }

  // device(type='cuda', index=0), kernel_idx = 3, <object at 0x7f...>
  static bool IsVolatile(std::string_view number, const std::array<std::string_view, 2>& before) {
    if (number.starts_with("0x")) return true;
    if (before[1] != "=") return false;
    if (before[0] == "kernel_idx" || before[0] == "constant_args_idx") return true;
    return before[0] == "index" && before[1].data() + 1 == number.data() &&
           before[0].data() + before[0].size() == before[1].data();
  }

  const GraphNodes& graph_;
  std::string& text_;
  bool numbered_;
  bool collective_ = false;
  std::unordered_map<std::string_view, size_t> symbols_;
  std::unordered_map<std::string_view, size_t> groups_;
};

}  // namespace

std::string GraphHash(const GraphNodes& graph) {
  std::string text;
  Normalizer normalizer(graph, text, true);
  for (const FxNode& node : graph.nodes) normalizer.Add(node);
  return Md5Hex(text);
}

void AppendNodeShape(const GraphNodes& graph, const FxNode& node, std::string& text) {
  Normalizer(graph, text, false).Add(node);
}

}  // namespace debrief
