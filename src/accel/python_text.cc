#include "accel/python_text.h"

#include <charconv>

#include "base/text/utf8.h"
#include "model/accel/python_float.h"

namespace debrief::accel {

namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r\f\v";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

void AppendCodePoint(std::string& out, uint32_t point) {
  if (point < 0x10000) return AppendPythonUnit(out, point);
  AppendPythonUnit(out, 0xd800 + ((point - 0x10000) >> 10));
  AppendPythonUnit(out, 0xdc00 + ((point - 0x10000) & 0x3ff));
}

// The code point at `at`, which moves behind it; U+FFFD for what is no UTF-8.
uint32_t TakeCodePoint(std::string_view text, size_t& at) {
  const Utf8Step step = StepUtf8(text.substr(at));
  const auto lead = static_cast<unsigned char>(text[at]);
  uint32_t point = step.bytes == 2 ? lead & 0x1fu : step.bytes == 3 ? lead & 0x0fu : lead & 0x07u;
  for (size_t i = 1; i < step.bytes; ++i)
    point = point << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fu);
  at += step.bytes;
  return step.valid ? point : 0xfffd;
}

void AppendControl(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\b':
      out += "\\b";
      break;
    case '\f':
      out += "\\f";
      break;
    default:
      AppendPythonUnit(out, static_cast<unsigned char>(c));
  }
}

bool IsPlain(char c) { return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f; }

}  // namespace

void AppendPythonUnit(std::string& out, uint32_t unit) {
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 15];
}

void AppendPythonFloat(std::string& out, double number) {
  char text[kPythonFloatSize];
  out.append(text, WritePythonFloat(number, text));
}

std::optional<int64_t> PythonInteger(std::string_view text) {
  text = Trimmed(text);
  std::string digits;
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 2 && text[0] == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
    if (base != 10) text.remove_prefix(2);
  }
  for (char c : text) {
    if (c != '_') digits += c;
  }
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  auto [at, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc() || at != end || value > INT64_MAX) return std::nullopt;
  return negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
}

std::optional<double> PythonNumber(std::string_view text) {
  text = Trimmed(text);
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  double value = 0;
  auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || text.empty() || at != text.data() + text.size()) return std::nullopt;
  return value;
}

void AppendPythonEscaped(std::string& out, std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    size_t plain = at;
    while (plain < text.size() && IsPlain(text[plain])) ++plain;
    out.append(text, at, plain - at);
    at = plain;
    if (at == text.size()) return;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == 0x7f) {
      out += text[at++];
    } else if (byte < 0x80) {
      AppendControl(out, text[at++]);
    } else {
      AppendCodePoint(out, TakeCodePoint(text, at));
    }
  }
}

}  // namespace debrief::accel
