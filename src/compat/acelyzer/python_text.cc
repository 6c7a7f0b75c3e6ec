#include "compat/acelyzer/python_text.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "base/text/strings.h"
#include "base/text/utf8.h"

namespace debrief::accel {

namespace {

// Enough for every double.
constexpr int kPythonFloatSize = 32;
constexpr int kLowestPlainExponent = -4;
constexpr int kHighestPlainExponent = 15;

char* Put(std::string_view text, char* out) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

char* PutZeros(int count, char* out) {
  std::memset(out, '0', static_cast<size_t>(count));
  return out + count;
}

// d.ddd * 10^exponent, taken apart.
struct Digits {
  char text[20];
  int count = 0;
  int exponent = 0;
};

// to_chars writes "d.ddde+xx" with the shortest digits that read back.
Digits ShortestDigits(double positive) {
  char buffer[kPythonFloatSize];
  const char* end =
      std::to_chars(buffer, buffer + sizeof buffer, positive, std::chars_format::scientific).ptr;
  Digits digits;
  const char* at = buffer;
  for (; *at != 'e'; ++at) {
    if (*at != '.') digits.text[digits.count++] = *at;
  }
  ++at;
  if (*at == '+') ++at;
  std::from_chars(at, end, digits.exponent);
  return digits;
}

char* PutPlain(const Digits& digits, char* out) {
  const std::string_view text(digits.text, static_cast<size_t>(digits.count));
  if (digits.exponent < 0) {
    return Put(text, PutZeros(-digits.exponent - 1, Put("0.", out)));
  }
  const int whole = digits.exponent + 1;
  if (digits.count <= whole) return Put(".0", PutZeros(whole - digits.count, Put(text, out)));
  out = Put(text.substr(0, static_cast<size_t>(whole)), out);
  *out++ = '.';
  return Put(text.substr(static_cast<size_t>(whole)), out);
}

char* PutScientific(const Digits& digits, char* out) {
  *out++ = digits.text[0];
  if (digits.count > 1) {
    *out++ = '.';
    out = Put({digits.text + 1, static_cast<size_t>(digits.count - 1)}, out);
  }
  *out++ = 'e';
  *out++ = digits.exponent < 0 ? '-' : '+';
  const int size = std::abs(digits.exponent);
  if (size < 10) *out++ = '0';
  return std::to_chars(out, out + 4, size).ptr;
}

// Correctly rounded by the C++ library, which knows the exact decimal value of a double.
double RoundExactly(double value, int digits) {
  char buffer[400];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits);
  double rounded = value;
  std::from_chars(buffer, end.ptr, rounded);
  return rounded;
}

// Writes at most kPythonFloatSize bytes to `out`, no terminator; the end of what was written.
char* WritePythonFloat(double value, char* out) {
  if (std::isnan(value)) return Put("NaN", out);
  if (std::signbit(value)) {
    *out++ = '-';
    value = -value;
  }
  if (std::isinf(value)) return Put("Infinity", out);
  constexpr double kExactIntegers = 1e15;
  if (value < kExactIntegers && value == std::floor(value)) {
    out = std::to_chars(out, out + 20, static_cast<int64_t>(value)).ptr;
    return Put(".0", out);
  }
  const Digits digits = ShortestDigits(value);
  const bool plain =
      digits.exponent >= kLowestPlainExponent && digits.exponent <= kHighestPlainExponent;
  return plain ? PutPlain(digits, out) : PutScientific(digits, out);
}

}  // namespace

void AppendPythonFloat(std::string& out, double value) {
  char buffer[kPythonFloatSize];
  out.append(buffer, WritePythonFloat(value, buffer));
}

std::string PythonFloat(double value) {
  std::string text;
  AppendPythonFloat(text, value);
  return text;
}

// The quick way is right wherever the scaled value is clearly not half way between two integers:
// an integer divided by an exact power of ten is rounded once, as reading its decimal would be.
double PythonRound(double value, int digits) {
  constexpr double kPowers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
  if (!std::isfinite(value)) return value;
  if (digits < 0 || digits > 6 || std::abs(value) > 1e300) return RoundExactly(value, digits);
  const double scaled = value * kPowers[digits];
  constexpr double kLargest = 4e15;
  if (std::abs(scaled) < kLargest) {
    const double distance = std::abs(scaled - std::floor(scaled) - 0.5);
    if (distance > std::abs(scaled) * 1e-15 + 1e-300) {
      return std::nearbyint(scaled) / kPowers[digits];
    }
  }
  return RoundExactly(value, digits);
}

namespace {

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

constexpr std::string_view kBlanks = " \t\n\r\f\v";

bool IsPlain(char c) { return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f; }

}  // namespace

void AppendPythonUnit(std::string& out, uint32_t unit) {
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 15];
}

std::optional<int64_t> PythonInteger(std::string_view text) {
  text = Trimmed(text, kBlanks);
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
  text = Trimmed(text, kBlanks);
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
