#include "model/accel/python_float.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

namespace debrief::accel {
namespace {

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

}  // namespace

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

void AppendPythonFloat(double value, std::string& out) {
  char buffer[kPythonFloatSize];
  out.append(buffer, WritePythonFloat(value, buffer));
}

std::string PythonFloat(double value) {
  std::string text;
  AppendPythonFloat(value, text);
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

}  // namespace debrief::accel
