// JSON by hand, as much as op traces need: the library depends on nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace debrief::op_trace {

// `text` in quotes. Bytes that are no UTF-8 become U+FFFD.
void AppendQuoted(std::string& out, std::string_view text);

// Microseconds with up to three digits behind the point: "12.0", "0.125".
void AppendMicros(std::string& out, int64_t ns);
// The same of a duration, or null.
void AppendDuration(std::string& out, const std::optional<int64_t>& duration_ns);
// The shortest number that reads back as the same double, with a point.
void AppendDouble(std::string& out, double number);

// Reads a document from front to back. After the first error everything answers no.
class JsonPull {
 public:
  explicit JsonPull(std::string_view text) : text_(text) {}

  bool ok() const { return !failed_; }
  size_t offset() const { return at_; }  // of the first error, when there was one

  // Begin('{'), then while (NextKey(key)) read its value; Begin('['), then while (NextElement()).
  bool Begin(char bracket);
  bool NextKey(std::string& key);
  bool NextElement();

  char Peek();  // first character of what comes, 0 at the end
  bool String(std::string& text);
  bool Null();  // takes a null when one comes
  std::optional<double> Double();
  std::optional<uint64_t> Count();  // a whole number from 0 on
  bool Bool(bool& value);
  bool Skip();   // any value
  bool AtEnd();  // nothing but white space is left

 private:
  void SkipBlanks();
  bool Fail();
  bool Take(char c);
  bool Word(std::string_view word);
  template <typename T>
  std::optional<T> Number();
  bool Escape(std::string& text);
  std::optional<uint32_t> Hex4();
  bool NextIn(char closing);

  std::string_view text_;
  size_t at_ = 0;
  bool failed_ = false;
  bool fresh_ = false;  // just behind an opening bracket
};

}  // namespace debrief::op_trace
