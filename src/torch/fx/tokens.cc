#include "torch/fx/tokens.h"

#include <array>
#include <cstring>

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

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

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
  for (; at_ < end_ && (IsBlank(*at_) || *at_ == '\n' || *at_ == ';'); ++at_) {
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
  while (stop > begin && IsBlank(stop[-1])) --stop;
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
  while (at < end_ && IsBlank(*at)) ++at;
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
  if (at_ >= end_) return {FxToken::Kind::kEnd, {end_, 0}};
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
  at_ = FxStringEnd(begin, end_);
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

}  // namespace debrief
