#include "base/json/canonical_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>

#include "base/json/canonical_string.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

using json_canonical::Put;

constexpr int64_t kMaxPower = 308;

// To the nearest: 10^i is not exact above 10^22, so that they cannot be made by multiplying.
std::array<double, kMaxPower + 1> MakePowersOfTen() {
  std::array<double, kMaxPower + 1> powers{};
  for (size_t i = 0; i < powers.size(); ++i) {
    const std::string text = "1e" + std::to_string(i);
    std::from_chars(text.data(), text.data() + text.size(), powers[i]);
  }
  return powers;
}

// A number taken apart: significand * 10^exponent.
struct Number {
  bool negative = false;
  bool integer = true;      // no point, no exponent, and the significand is all of it
  bool scientific = false;  // written with an exponent
  uint64_t significand = 0;
  int64_t exponent = 0;
};

// Appends a digit to the significand unless that overflows.
bool Push(uint64_t& significand, char digit) {
  uint64_t next = 0;
  if (__builtin_mul_overflow(significand, uint64_t{10}, &next)) return false;
  if (__builtin_add_overflow(next, static_cast<uint64_t>(digit - '0'), &next)) return false;
  significand = next;
  return true;
}

// Each takes its part from the beginning of `rest`; false when it is malformed.
bool TakeInteger(std::string_view& rest, Number& number) {
  if (rest.empty() || !IsDigit(rest[0])) return false;
  if (rest[0] == '0' && rest.size() > 1 && IsDigit(rest[1])) return false;
  size_t at = 0;
  while (at < rest.size() && IsDigit(rest[at]) && Push(number.significand, rest[at])) ++at;
  for (; at < rest.size() && IsDigit(rest[at]); ++at) {
    ++number.exponent;  // from the first digit that does not fit, all are dropped
    number.integer = false;
  }
  rest.remove_prefix(at);
  return true;
}

bool TakeFraction(std::string_view& rest, Number& number) {
  if (rest.empty() || rest[0] != '.') return true;
  number.integer = false;
  size_t at = 1;
  for (; at < rest.size() && IsDigit(rest[at]); ++at) {
    if (!Push(number.significand, rest[at])) break;
    --number.exponent;
  }
  while (at < rest.size() && IsDigit(rest[at])) ++at;
  rest.remove_prefix(at);
  return at > 1;
}

bool TakeExponent(std::string_view& rest, Number& number) {
  if (rest.empty() || (rest[0] | 0x20) != 'e') return true;
  number.integer = false;
  number.scientific = true;
  rest.remove_prefix(1);
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.empty() || !IsDigit(rest[0])) return false;
  int64_t exponent = 0;
  while (!rest.empty() && IsDigit(rest[0])) {
    exponent = std::min<int64_t>(exponent * 10 + (rest[0] - '0'), 1 << 30);  // far out of range
    rest.remove_prefix(1);
  }
  number.exponent += negative ? -exponent : exponent;
  return true;
}

bool Parse(std::string_view rest, Number& number) {
  number.negative = rest.starts_with('-');
  if (number.negative) rest.remove_prefix(1);
  return TakeInteger(rest, number) && TakeFraction(rest, number) && TakeExponent(rest, number) &&
         rest.empty();
}

// Infinite when it is out of range.
double ToDouble(const Number& number) {
  static const std::array kPowersOfTen = MakePowersOfTen();
  auto value = static_cast<double>(number.significand);
  int64_t exponent = number.exponent;
  for (; exponent < -kMaxPower && value != 0; exponent += kMaxPower) value /= kPowersOfTen.back();
  if (value == 0) return 0;
  if (exponent > kMaxPower) return std::numeric_limits<double>::infinity();
  const double power = kPowersOfTen[static_cast<size_t>(std::abs(exponent))];
  return exponent < 0 ? value / power : value * power;
}

char* PutZeros(char* to, int count) {
  std::memset(to, '0', static_cast<size_t>(count));
  return to + count;
}

// `digits` (at most 17) with the decimal point behind `point` of them; 0.00123 has point -2.
char* PutDecimal(std::string_view digits, int point, char* to) {
  const auto length = static_cast<int>(digits.size());
  if (length <= point && point <= 16) return Put(PutZeros(Put(to, digits), point - length), ".0");
  if (0 < point && point <= 16) {
    const auto whole = static_cast<size_t>(point);
    return Put(Put(Put(to, digits.substr(0, whole)), "."), digits.substr(whole));
  }
  if (-5 < point && point <= 0) return Put(PutZeros(Put(to, "0."), -point), digits);
  *to++ = digits[0];
  if (length > 1) to = Put(Put(to, "."), digits.substr(1));
  *to++ = 'e';
  return std::to_chars(to, to + 4, point - 1).ptr;
}

char* PutDouble(double value, char* to) {
  if (value == 0) return Put(to, "0.0");
  char text[32];  // d.ddde+xx
  char* end = std::to_chars(text, std::end(text), value, std::chars_format::scientific).ptr;
  const char* e = std::find(text, end, 'e');
  int exponent = 0;
  std::from_chars(e + (e[1] == '+' ? 2 : 1), end, exponent);
  if (e - text == 1) return PutDecimal({text, 1}, exponent + 1, to);
  text[1] = text[0];  // over the point
  return PutDecimal({text + 1, e}, exponent + 1, to);
}

// At most 15 digits, and written the way they would be printed: two such numbers are never the same
// double, and both steps to it are exact, so that printing gives back the text.
bool PrintsAsItStands(std::string_view token, const Number& number) {
  constexpr size_t kMaxBytes = 16;  // 15 digits and a point
  const size_t point = token.find('.');
  if (number.negative || number.scientific) return false;
  if (token.size() > kMaxBytes || point == std::string_view::npos) return false;
  const std::string_view fraction = token.substr(point + 1);
  if (fraction == "0") return true;
  return fraction.back() != '0' && (token[0] != '0' || fraction[0] != '0');
}

bool FitsInteger(const Number& number) {
  constexpr uint64_t kMostNegative = uint64_t{1} << 63;
  if (!number.integer) return false;
  if (!number.negative) return true;
  return number.significand != 0 && number.significand <= kMostNegative;
}

// Most numbers: digits that fit 64 bits however large they are.
bool IsShortInteger(std::string_view token) {
  constexpr size_t kMaxDigits = 19;
  if (token.size() > kMaxDigits || (token[0] == '0' && token.size() > 1)) return false;
  return std::all_of(token.begin(), token.end(), IsDigit);
}

}  // namespace

char* WriteCanonicalNumber(std::string_view token, char* to) {
  if (token.empty()) return nullptr;
  if (IsShortInteger(token)) return Put(to, token);
  Number number;
  if (!Parse(token, number)) return nullptr;
  if (FitsInteger(number) || PrintsAsItStands(token, number)) return Put(to, token);
  const double value = ToDouble(number);
  if (std::isinf(value)) return nullptr;
  if (number.negative) *to++ = '-';
  return PutDouble(value, to);
}

}  // namespace debrief
