#include "torch/fx/expression.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace debrief {

namespace {

enum CharClass : uint8_t { kOther, kSpace, kLetter, kDigit, kQuote, kOpening, kClosing, kOperator };

constexpr std::array<uint8_t, 256> MakeClasses() {
  std::array<uint8_t, 256> classes{};
  for (char c : std::string_view(" \t\r\n")) classes[static_cast<uint8_t>(c)] = kSpace;
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<size_t>(c)] = kLetter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<size_t>(c)] = kLetter;
  for (size_t c = 128; c < 256; ++c) classes[c] = kLetter;
  classes['_'] = kLetter;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<size_t>(c)] = kDigit;
  for (char c : std::string_view("\"'")) classes[static_cast<uint8_t>(c)] = kQuote;
  for (char c : std::string_view("([{")) classes[static_cast<uint8_t>(c)] = kOpening;
  for (char c : std::string_view(")]}")) classes[static_cast<uint8_t>(c)] = kClosing;
  for (char c : std::string_view("+-*/@%<>=!&|^~")) classes[static_cast<uint8_t>(c)] = kOperator;
  return classes;
}

constexpr std::array<uint8_t, 256> kClasses = MakeClasses();

uint8_t ClassOf(char c) { return kClasses[static_cast<uint8_t>(c)]; }

bool IsIndent(char c) { return c == ' ' || c == '\t' || c == '\r'; }

const char* LineEnd(const char* at, const char* end) {
  const void* found = std::memchr(at, '\n', static_cast<size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

FxStatement::Kind KindOf(std::string_view text) {
  if (text.starts_with('#')) return FxStatement::Kind::kComment;
  if (text.starts_with("class ")) return FxStatement::Kind::kClass;
  if (text.starts_with("def ")) return FxStatement::Kind::kDef;
  if (text.starts_with("return") &&
      (text.size() == 6 || ClassOf(text[6]) < kLetter || ClassOf(text[6]) > kDigit))
    return FxStatement::Kind::kReturn;
  return FxStatement::Kind::kCode;
}

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

// a.b.c
size_t PlainPathBytes(std::string_view text) {
  size_t at = 0;
  if (text.empty() || IsDigit(text[0])) return 0;
  auto in_path = [&](char c) {
    return ClassOf(c) == kLetter || ClassOf(c) == kDigit || (c == '.' && at > 0);
  };
  while (at < text.size() && in_path(text[at])) ++at;
  return at;
}

// `, "0")` behind the base of a getattr: the name; empty when it is something else.
std::string_view TakeAttribute(std::string_view& rest) {
  if (!rest.starts_with(", \"")) return {};
  size_t quote = rest.find('"', 3);
  if (quote == std::string_view::npos || !rest.substr(quote).starts_with("\")")) return {};
  std::string_view name = rest.substr(3, quote - 3);
  rest.remove_prefix(quote + 2);
  return name;
}

}  // namespace

const char* FxStringEnd(const char* at, const char* end) {
  char quote = *at++;
  for (; at < end && *at != '\n'; ++at) {
    if (*at == quote) return at + 1;
    if (*at == '\\' && at + 1 < end && at[1] != '\n') ++at;
  }
  return at;
}

// Stands at the first character of a statement afterwards; indent_ is that of its line.
bool FxStatements::SkipBlank() {
  const char* line = at_;
  for (; at_ < end_ && (IsIndent(*at_) || *at_ == '\n' || *at_ == ';'); ++at_) {
    if (*at_ != '\n') continue;
    line = at_ + 1;
    in_line_ = false;
  }
  if (!in_line_) indent_ = static_cast<size_t>(at_ - line);
  return at_ < end_;
}

bool FxStatements::Next(FxStatement& statement) {
  if (!SkipBlank()) return false;
  const char* begin = at_;
  statement.follows_semicolon = in_line_;
  std::string_view rest(begin, static_cast<size_t>(end_ - begin));
  statement.kind = KindOf(rest);
  const char* stop =
      statement.kind == FxStatement::Kind::kComment ? LineEnd(begin, end_) : StatementEnd();
  in_line_ = stop < end_ && *stop == ';';
  at_ = stop;
  while (stop > begin && IsIndent(stop[-1])) --stop;
  statement.text = {begin, static_cast<size_t>(stop - begin)};
  return true;
}

const char* FxStatements::StatementEnd() {
  int depth = 0;
  const char* at = at_;
  while (at < end_) {
    char c = *at;
    uint8_t kind = ClassOf(c);
    if (kind == kQuote) {
      at = FxStringEnd(at, end_);
      continue;
    }
    if (kind == kOpening) ++depth;
    if (kind == kClosing && depth > 0) --depth;
    if (c == '#') {
      at = LineEnd(at, end_);
      continue;
    }
    if (c == ';' && depth == 0) return at;
    if (c == '\n' && (depth == 0 || !ContinuesBelow(at))) return at;
    ++at;
  }
  return at;
}

bool FxStatements::ContinuesBelow(const char* line_end) const {
  const char* line = line_end + 1;
  const char* at = line;
  while (at < end_ && IsIndent(*at)) ++at;
  if (at == end_) return false;
  if (*at == '\n') return true;
  return static_cast<size_t>(at - line) > indent_ || ClassOf(*at) == kClosing;
}

void FxTokens::SkipSpace() {
  while (at_ < end_) {
    if (ClassOf(*at_) == kSpace) {
      ++at_;
    } else if (*at_ == '#') {
      at_ = LineEnd(at_, end_);
    } else {
      return;
    }
  }
}

FxToken FxTokens::Next() {
  SkipSpace();
  if (at_ >= end_) return {FxToken::Kind::kEnd, std::string_view(end_, end_)};
  const char* begin = at_;
  switch (ClassOf(*begin)) {
    case kLetter:
      return Name(begin);
    case kQuote:
      return Quoted(begin);
    case kDigit:
      while (at_ < end_ && (ClassOf(*at_) == kDigit || ClassOf(*at_) == kLetter || *at_ == '.' ||
                            ((*at_ == '-' || *at_ == '+') && at_[-1] == 'e')))
        ++at_;
      after_dot_ = false;
      return {FxToken::Kind::kNumber, {begin, static_cast<size_t>(at_ - begin)}};
    default:
      return Sign(begin);
  }
}

FxToken FxTokens::Name(const char* begin) {
  while (at_ < end_ && (ClassOf(*at_) == kLetter || ClassOf(*at_) == kDigit)) ++at_;
  FxToken token{after_dot_ ? FxToken::Kind::kWord : FxToken::Kind::kName,
                {begin, static_cast<size_t>(at_ - begin)}};
  after_dot_ = false;
  const char* next = at_;
  while (next < end_ && *next == ' ') ++next;
  bool assigned = next < end_ && *next == '=' && (next + 1 == end_ || next[1] != '=');
  if (assigned && depth_ > 0) token.kind = FxToken::Kind::kWord;
  return token;
}

FxToken FxTokens::Quoted(const char* begin) {
  const std::string_view quotes(begin, std::min<size_t>(3, static_cast<size_t>(end_ - begin)));
  const bool is_long = quotes == "\"\"\"" || quotes == "'''";
  if (is_long) {
    for (at_ += 3; at_ < end_ && !std::string_view(at_, end_).starts_with(quotes); ++at_)
      if (*at_ == '\\') ++at_;
    at_ = end_ - at_ < 3 ? end_ : at_ + 3;
  } else {
    at_ = FxStringEnd(begin, end_);
  }
  after_dot_ = false;
  return {FxToken::Kind::kString, {begin, static_cast<size_t>(at_ - begin)}};
}

FxToken FxTokens::Sign(const char* begin) {
  uint8_t kind = ClassOf(*at_++);
  after_dot_ = *begin == '.';
  FxToken::Kind token = FxToken::Kind::kSign;
  if (kind == kOpening) {
    ++depth_;
    token = FxToken::Kind::kOpen;
  } else if (kind == kClosing) {
    if (depth_ > 0) --depth_;
    token = FxToken::Kind::kClose;
  } else if (kind == kOperator) {
    while (at_ < end_ && ClassOf(*at_) == kOperator) ++at_;
  }
  return {token, {begin, static_cast<size_t>(at_ - begin)}};
}

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
