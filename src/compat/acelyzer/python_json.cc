#include "compat/acelyzer/python_json.h"

#include <algorithm>
#include <charconv>

#include "compat/acelyzer/python_text.h"

namespace debrief::accel {

namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Behind the closing quote of the string that begins at `at`.
size_t EndOfString(std::string_view json, size_t at) {
  for (size_t i = at + 1; i < json.size(); ++i) {
    if (json[i] == '\\') {
      ++i;
    } else if (json[i] == '"') {
      return i + 1;
    }
  }
  return json.size();
}

size_t EndOfScalar(std::string_view json, size_t at) {
  while (at < json.size() && !IsBlank(json[at]) && json[at] != ',' && json[at] != ']' &&
         json[at] != '}' && json[at] != ':')
    ++at;
  return at;
}

// The escape at `text[at]`, in Python's form; returns how long it is in `text`.
size_t AppendEscapeAgain(std::string& out, std::string_view text, size_t at) {
  const char kind = at + 1 < text.size() ? text[at + 1] : '\\';
  if (kind == '/') {
    out += '/';
  } else if (kind != 'u' || at + 6 > text.size()) {
    out += '\\';
    out += kind;
  } else {
    unsigned unit = 0;
    std::from_chars(text.data() + at + 2, text.data() + at + 6, unit, 16);
    const char ascii = static_cast<char>(unit);
    if (unit < 0x80) {
      AppendPythonEscaped(out, {&ascii, 1});
    } else {
      AppendPythonUnit(out, unit);
    }
    return 6;
  }
  return 2;
}

// Indentation makes the square of the depth of it. No trace of a profiler comes near this depth;
// what is deeper is written without lines of its own.
constexpr int kMostLevels = 16;

}  // namespace

void PythonJson::NewLine() {
  if (depth_ > kMostLevels) return;
  out_ += '\n';
  out_.append(static_cast<size_t>(depth_) * 4, ' ');
}

void PythonJson::Open(char bracket) {
  out_ += bracket;
  ++depth_;
  is_empty_ = true;
}

void PythonJson::Close(char bracket) {
  --depth_;
  if (!is_empty_) NewLine();
  out_ += bracket;
  is_empty_ = false;
}

void PythonJson::Element() {
  if (!is_empty_) out_ += ',';
  is_empty_ = false;
  NewLine();
}

void PythonJson::Key(std::string_view key) {
  Element();
  Text(key);
  out_ += ": ";
}

void PythonJson::Text(std::string_view text) {
  out_ += '"';
  AppendPythonEscaped(out_, text);
  out_ += '"';
}

void PythonJson::Number(double number) { AppendPythonFloat(out_, number); }

void PythonJson::Integer(int64_t number) {
  char buffer[24];
  out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
}

void PythonJson::Put(const Value& value, const StringPool& strings) {
  switch (value.kind) {
    case ValueKind::kNull:
      return Null();
    case ValueKind::kBool:
      return Bool(value.integer != 0);
    case ValueKind::kInteger:
      return Integer(value.integer);
    case ValueKind::kNumber:
      return Number(value.number);
    case ValueKind::kText:
      return Text(strings.Get(value.text));
    case ValueKind::kDecimalText:
      out_ += '"';
      Integer(value.integer);
      out_ += '"';
      return;
    case ValueKind::kHexText:
      return Text(value.AsText(strings));
    case ValueKind::kUnsigned:
      out_ += value.AsText(strings);
      return;
    case ValueKind::kJson:
      return Rewrite(strings.Get(value.text));
  }
}

void PythonJson::QuotedAgain(std::string_view quoted) {
  if (quoted.size() < 2) return Text("");
  const std::string_view text = quoted.substr(1, quoted.size() - 2);
  out_ += '"';
  size_t at = 0;
  while (at < text.size()) {
    const size_t plain = std::min(text.find('\\', at), text.size());
    AppendPythonEscaped(out_, text.substr(at, plain - at));
    at = plain;
    if (at < text.size()) at += AppendEscapeAgain(out_, text, at);
  }
  out_ += '"';
}

void PythonJson::ScalarAgain(std::string_view token) {
  double number = 0;
  const bool is_float = token.find_first_of(".eE") != std::string_view::npos &&
                        token.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  if (is_float &&
      std::from_chars(token.data(), token.data() + token.size(), number).ec == std::errc()) {
    Number(number);
  } else {
    out_ += token;
  }
}

void PythonJson::Rewrite(std::string_view json) {
  std::string open;  // brackets around the place
  bool wants_key = false;
  auto begin_value = [&] {
    if (!open.empty() && open.back() == '[') Element();
  };
  for (size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c == '{' || c == '[') {
      begin_value();
      Open(c);
      open += c;
      wants_key = c == '{';
      ++at;
    } else if (c == '}' || c == ']') {
      if (open.empty()) return;
      Close(c);
      open.pop_back();
      ++at;
    } else if (c == ',' || c == ':' || IsBlank(c)) {
      if (c == ',') wants_key = !open.empty() && open.back() == '{';
      ++at;
    } else if (c == '"') {
      const size_t end = EndOfString(json, at);
      if (wants_key) {
        Element();
      } else {
        begin_value();
      }
      QuotedAgain(json.substr(at, end - at));
      if (wants_key) out_ += ": ";
      wants_key = false;
      at = end;
    } else {
      const size_t end = EndOfScalar(json, at);
      begin_value();
      ScalarAgain(json.substr(at, end - at));
      at = end;
    }
  }
}

}  // namespace debrief::accel
