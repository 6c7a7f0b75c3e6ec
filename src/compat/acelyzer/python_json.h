// JSON text with an indent of four, as Python's json.dump(indent=4) writes it: the exporter's own
// lines, and JSON of the inputs written anew.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "accel/value.h"

namespace debrief::accel {

class PythonJson {
 public:
  // `depth` is the number of brackets around what is written.
  PythonJson(std::string& out, int depth) : out_(out), depth_(depth) {}

  void Open(char bracket);   // { or [
  void Close(char bracket);  // } or ]
  void Key(std::string_view key);
  void Element();  // before an element of a list

  // A key with a text, a number or a truth value.
  template <typename T>
  void Field(std::string_view key, const T& value) {
    Key(key);
    if constexpr (std::is_same_v<T, bool>) {
      Bool(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      Number(value);
    } else if constexpr (std::is_integral_v<T>) {
      Integer(value);
    } else {
      Text(value);
    }
  }

  void Text(std::string_view text);
  void Number(double number);
  void Integer(int64_t number);
  void Bool(bool value) { out_ += value ? "true" : "false"; }
  void Null() { out_ += "null"; }
  void Put(const Value& value, const StringPool& strings);
  // Text that is JSON, with white space, escapes and numbers in Python's form.
  void Rewrite(std::string_view json);

 private:
  void NewLine();
  void QuotedAgain(std::string_view quoted);
  void ScalarAgain(std::string_view token);

  std::string& out_;
  int depth_;
  bool is_empty_ = true;  // the innermost bracket
};

}  // namespace debrief::accel
