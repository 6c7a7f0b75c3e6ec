// Writes JSON text piece by piece into a string. Commas, quotes and escapes are the writer's
// business; balance of Begin and End is the caller's.
//
//   JsonWriter json(&out);
//   json.BeginObject().Field("schema", 1).ListField("ranks", ranks);
//   json.Objects("jobs", jobs, [&](const Job& job) { json.Field("name", job.name); }).EndObject();
//
// Text is escaped by base/text/escape.h, so the result may also stand inside a <script> element.
// Numbers without a value (kNone, NaN, infinity) are written as null.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace debrief {

class JsonWriter {
 public:
  // `indent` > 0 breaks lines and indents by that many blanks a level.
  explicit JsonWriter(std::string* out, int indent = 0) : out_(out), indent_(indent) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);

  JsonWriter& Value(std::string_view text);
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  JsonWriter& Value(const std::string& text) { return Value(std::string_view(text)); }
  JsonWriter& Value(double number);
  JsonWriter& Null() { return Raw("null"); }
  // Text that is JSON already.
  JsonWriter& Raw(std::string_view json);

  template <std::same_as<bool> T>
  JsonWriter& Value(T value) {
    return Raw(value ? "true" : "false");
  }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  JsonWriter& Value(T number) {
    if constexpr (std::signed_integral<T>) {
      if (number == std::numeric_limits<T>::min()) return Null();
    }
    return Raw(fmt::format_int(number).c_str());
  }

  template <typename T>
  JsonWriter& Field(std::string_view key, const T& value) {
    return Key(key).Value(value);
  }
  // null for none.
  template <typename T>
  JsonWriter& Field(std::string_view key, const std::optional<T>& value) {
    return value ? Field(key, *value) : Key(key).Null();
  }
  // An array with an element for each of `list`, which `write(element)` writes.
  template <typename Values, typename Write>
  JsonWriter& Array(std::string_view key, const Values& list, Write write) {
    Key(key).BeginArray();
    for (const auto& element : list) write(element);
    return EndArray();
  }
  // The same with elements that are objects, of which `write(element)` writes the fields.
  template <typename Values, typename Write>
  JsonWriter& Objects(std::string_view key, const Values& list, Write write) {
    return Array(key, list, [&](const auto& element) {
      BeginObject();
      write(element);
      EndObject();
    });
  }
  // [1, 2, 3] on one line whatever the indent.
  template <typename Values>
  JsonWriter& ListField(std::string_view key, const Values& list) {
    return Key(key).List(list);
  }
  template <typename Values>
  JsonWriter& List(const Values& list) {
    Open('[', /*inline_list=*/true);
    for (const auto& value : list) Value(value);
    return Close(']');
  }

 private:
  JsonWriter& Open(char bracket, bool inline_list = false);
  JsonWriter& Close(char bracket);
  void Separate();  // comma and line break before a key or an element
  void BreakLine();

  std::string* out_;
  int indent_;
  int depth_ = 0;
  bool empty_ = true;       // nothing written yet in the innermost bracket
  bool after_key_ = false;  // the next thing is the value of a key
  bool inline_ = false;     // inside an inline list
};

}  // namespace debrief
