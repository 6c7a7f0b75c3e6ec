// The words of the Python that torch.fx prints: `linear: "f32[4, 128]" = torch.relu(x, a = 1)`.
//
// Two levels. FxStatements cuts the text into comments and statements: a statement ends at a line
// end or `;` outside of brackets. Brackets that are never closed do not swallow the rest: a line
// that is not indented deeper and does not begin with a closing bracket begins a new statement.
// FxTokens cuts a statement into names, numbers, strings and signs; only a name that stands for a
// value, not an attribute (.a) or a keyword (a = 1), is a kName.
//
// Cost: each byte is looked at once per level. Not a Python grammar: what torch.fx prints is one
// call, one operator or one attribute a line, and anything else must not stop the reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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

}  // namespace debrief
