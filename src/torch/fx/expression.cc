#include "torch/fx/expression.h"

#include <array>
#include <utility>

#include "torch/fx/tokens.h"

namespace debrief {

namespace {

using Names = std::pair<std::string_view, std::string_view>;

constexpr std::array<Names, 21> kBinary = {{
    {"+", "operator.add"},     {"-", "operator.sub"},       {"*", "operator.mul"},
    {"/", "operator.truediv"}, {"//", "operator.floordiv"}, {"%", "operator.mod"},
    {"**", "operator.pow"},    {"@", "operator.matmul"},    {"<<", "operator.lshift"},
    {">>", "operator.rshift"}, {"&", "operator.and_"},      {"|", "operator.or_"},
    {"^", "operator.xor"},     {"==", "operator.eq"},       {"!=", "operator.ne"},
    {"<", "operator.lt"},      {">", "operator.gt"},        {"<=", "operator.le"},
    {">=", "operator.ge"},     {"is", "operator.is_"},      {"in", "operator.contains"},
}};

constexpr std::array<Names, 13> kInPlace = {{
    {"+=", "operator.iadd"},
    {"-=", "operator.isub"},
    {"*=", "operator.imul"},
    {"/=", "operator.itruediv"},
    {"//=", "operator.ifloordiv"},
    {"%=", "operator.imod"},
    {"**=", "operator.ipow"},
    {"@=", "operator.imatmul"},
    {"<<=", "operator.ilshift"},
    {">>=", "operator.irshift"},
    {"&=", "operator.iand"},
    {"|=", "operator.ior"},
    {"^=", "operator.ixor"},
}};

template <size_t kSize>
std::string_view LookUp(const std::array<Names, kSize>& names, std::string_view sign) {
  for (const auto& [key, name] : names)
    if (key == sign) return name;
  return {};
}

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 128;
}

// a.b.c
size_t PlainPathBytes(std::string_view text) {
  size_t at = 0;
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return 0;
  while (at < text.size() && (IsWordCharacter(text[at]) || (text[at] == '.' && at > 0))) ++at;
  return at;
}

// `, "0")` behind the base of a getattr: the name; empty when it is something else.
std::string_view TakeAttribute(std::string_view& rest) {
  if (!rest.starts_with(", \"")) return {};
  size_t quote = rest.find('"', 3);
  if (quote == rest.npos || !rest.substr(quote).starts_with("\")")) return {};
  std::string_view name = rest.substr(3, quote - 3);
  rest.remove_prefix(quote + 2);
  return name;
}

}  // namespace

FxPath ReadFxPath(std::string_view text, std::deque<std::string>& texts) {
  constexpr std::string_view kGetAttr = "getattr(";
  std::string_view rest = text;
  size_t nested = 0;
  for (; rest.starts_with(kGetAttr); ++nested) rest.remove_prefix(kGetAttr.size());
  size_t bytes = PlainPathBytes(rest);
  if (nested == 0) return {text.substr(0, bytes), text.substr(bytes)};
  std::string path(rest.substr(0, bytes));
  rest.remove_prefix(bytes);
  for (; nested > 0; --nested) {
    std::string_view name = TakeAttribute(rest);
    if (name.empty()) return {text.substr(0, 7), text.substr(7)};  // a plain call of getattr
    path.append(".").append(name);
    bytes = rest.starts_with('.') ? 1 + PlainPathBytes(rest.substr(1)) : 0;
    path += rest.substr(0, bytes);
    rest.remove_prefix(bytes);
  }
  return {texts.emplace_back(std::move(path)), rest};
}

std::string_view FxBinaryTarget(std::string_view sign) { return LookUp(kBinary, sign); }

std::string_view FxInPlaceTarget(std::string_view sign) { return LookUp(kInPlace, sign); }

std::string_view FxUnaryTarget(std::string_view expression) {
  if (expression.size() < 2) return {};
  if (expression[0] == '-') return "operator.neg";
  if (expression[0] == '~') return "operator.invert";
  if (expression[0] == '+') return "operator.pos";
  return {};
}

bool IsOneBracket(std::string_view text) {
  FxTokens tokens(text);
  FxToken token = tokens.Next();
  if (token.kind != FxToken::Kind::kOpen) return false;
  while (token.kind != FxToken::Kind::kEnd && tokens.depth() > 0) token = tokens.Next();
  if (tokens.depth() > 0) return false;
  return tokens.Next().kind == FxToken::Kind::kEnd;
}

}  // namespace debrief
