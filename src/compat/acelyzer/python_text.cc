#include "compat/acelyzer/python_text.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "base/text/strings.h"
#include "base/text/utf8.h"

namespace debrief::accel {

namespace {

// Correctly rounded by the C++ library, which knows the exact decimal value of a double.
double RoundExactly(double value, int digits) {
  char buffer[400];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits);
  double rounded = value;
  std::from_chars(buffer, end.ptr, rounded);
  return rounded;
}

}  // namespace

// fmt chooses digits and exponents as Python does, but writes whole numbers without a fraction.
void AppendPythonFloat(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
  } else {
    char buffer[32];  // enough for every double
    const char* end = fmt::format_to(buffer, FMT_COMPILE("{}"), value);
    const std::string_view text(buffer, static_cast<size_t>(end - buffer));
    out += text;
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
  }
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
  constexpr std::string_view kEscaped = "\"\\\n\r\t\b\f", kLetters = "\"\\nrtbf";
  const size_t at = kEscaped.find(c);
  if (at == std::string_view::npos) return AppendPythonUnit(out, static_cast<unsigned char>(c));
  out += '\\';
  out += kLetters[at];
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
