#include "accel/python_text.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/utf8.h"

namespace debrief::accel {

namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r\f\v";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Digits and the decimal exponent: 12.5 is "125" and 1 (1.25e1).
struct Digits {
  char text[24];
  int count = 0;
  int exponent = 0;
};

Digits ShortestDigits(double number) {
  char buffer[32];
  const char* end =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
  Digits digits;
  const char* at = buffer;
  for (; at != end && *at != 'e'; ++at) {
    if (*at != '.') digits.text[digits.count++] = *at;
  }
  if (at != end) std::from_chars(at + (at[1] == '+' ? 2 : 1), end, digits.exponent);
  return digits;
}

void AppendPlain(std::string& out, const Digits& digits) {
  const int whole = digits.exponent + 1;  // digits before the point
  if (whole <= 0) {
    out += "0.";
    out.append(static_cast<size_t>(-whole), '0');
    out.append(digits.text, static_cast<size_t>(digits.count));
    return;
  }
  for (int i = 0; i < whole; ++i) out += i < digits.count ? digits.text[i] : '0';
  out += '.';
  if (digits.count <= whole) {
    out += '0';
  } else {
    out.append(digits.text + whole, static_cast<size_t>(digits.count - whole));
  }
}

void AppendExponential(std::string& out, const Digits& digits) {
  out += digits.text[0];
  if (digits.count > 1) {
    out += '.';
    out.append(digits.text + 1, static_cast<size_t>(digits.count - 1));
  }
  out += 'e';
  out += digits.exponent < 0 ? '-' : '+';
  const int size = std::abs(digits.exponent);
  if (size < 10) out += '0';
  out += std::to_string(size);
}

// Whole numbers, which most times and durations of traces are, need no search for the shortest
// form.
bool AppendWhole(std::string& out, double number) {
  if (!(std::abs(number) < 1e15) || number != std::floor(number)) return false;
  if (number == 0 && std::signbit(number)) out += '-';
  char buffer[24];
  char* end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<int64_t>(number)).ptr;
  *end++ = '.';
  *end++ = '0';
  out.append(buffer, static_cast<size_t>(end - buffer));
  return true;
}

void AppendUnit(std::string& out, uint32_t unit) {
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 15];
}

void AppendCodePoint(std::string& out, uint32_t point) {
  if (point < 0x10000) return AppendUnit(out, point);
  AppendUnit(out, 0xd800 + ((point - 0x10000) >> 10));
  AppendUnit(out, 0xdc00 + ((point - 0x10000) & 0x3ff));
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
      AppendUnit(out, static_cast<unsigned char>(c));
  }
}

bool IsPlain(char c) { return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f; }

}  // namespace

void AppendPythonFloat(std::string& out, double number) {
  if (std::isnan(number)) {
    out += "NaN";
  } else if (std::isinf(number)) {
    out += number < 0 ? "-Infinity" : "Infinity";
  } else if (!AppendWhole(out, number)) {
    if (number < 0) out += '-';
    const Digits digits = ShortestDigits(std::abs(number));
    const bool plain = digits.exponent >= -4 && digits.exponent < 16;
    plain ? AppendPlain(out, digits) : AppendExponential(out, digits);
  }
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
