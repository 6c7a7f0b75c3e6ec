// The Python that torch.fx prints, and what one expression of it does:
//
//   linear: "f32[4, 128]" = torch.relu(x, a = 1)
//
// Two levels. FxStatements cuts the text into comments and statements: a statement ends at a line
// end or `;` outside of brackets. Brackets that are never closed do not take in the rest: a line
// that is not indented deeper and does not begin with a closing bracket begins a new statement.
// FxTokens cuts a statement into names, numbers, strings and signs; only a name that stands for a
// value, not an attribute (.a) or a keyword (a = 1), is a kName.
//
// Cost: each byte is looked at once per level. Not a Python grammar: what torch.fx prints is one
// call, one operator or one attribute a line, and anything else must not stop the reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "torch/fx/graph.h"

namespace debrief {

struct FxStatement {
  enum class Kind : uint8_t { kComment, kClass, kDef, kReturn, kCode };
  Kind kind = Kind::kCode;
  bool follows_semicolon = false;  // on the line of the statement before
  std::string_view text;           // from its first character; comments may be inside
};

class FxStatements {
 public:
  explicit FxStatements(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  // False at the end of the text.
  bool Next(FxStatement& statement);

 private:
  bool SkipBlank();
  const char* StatementEnd();
  bool ContinuesBelow(const char* line_end) const;

  const char* at_;
  const char* end_;
  size_t indent_ = 0;
  bool in_line_ = false;  // at_ is behind a semicolon
};

struct FxToken {
  enum class Kind : uint8_t { kName, kWord, kNumber, kString, kOpen, kClose, kSign, kEnd };
  Kind kind = Kind::kEnd;
  std::string_view text;  // of a string: with its quotes
};

class FxTokens {
 public:
  explicit FxTokens(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  FxToken Next();
  // Brackets open behind the last token.
  int depth() const { return depth_; }
  const char* at() const { return at_; }

 private:
  void SkipSpace();
  FxToken Name(const char* begin);
  FxToken Quoted(const char* begin);
  FxToken Sign(const char* begin);

  const char* at_;
  const char* end_;
  int depth_ = 0;
  bool after_dot_ = false;
};

// Behind the string that begins with the quote at `at`; at the line end when it is never closed.
const char* FxStringEnd(const char* at, const char* end);

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
    return set(FxOp::kCallFunction, of_node && dot != std::string_view::npos ? "getattr" : "");
  }
  bool plain = path.data() == node.expression.data();
  if (!(plain ? scan.ends_with_bracket : IsOneBracket(rest))) return set(FxOp::kUnknown, "");
  if (rest[0] == '[') return set(FxOp::kCallFunction, of_node ? "operator.getitem" : "");
  if (rest[0] != '(') return set(FxOp::kUnknown, "");
  if (of_self) return set(FxOp::kCallModule, path);
  if (of_node && dot != std::string_view::npos) return set(FxOp::kCallMethod, path.substr(dot + 1));
  set(FxOp::kCallFunction, path);
}

}  // namespace debrief
