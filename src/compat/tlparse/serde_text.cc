#include "compat/tlparse/serde_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace debrief::outputs::tlparse_tree {

namespace {

void AppendEscaped(char c, std::string& out) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (static_cast<unsigned char>(c) >= 0x20) {
    out += c;
  } else {
    out += fmt::format("\\u{:04x}", c);
  }
}

}  // namespace

std::string SerdeString(std::string_view text) {
  std::string out = "\"";
  for (char c : text) AppendEscaped(c, out);
  out += '"';
  return out;
}

std::string SerdeDouble(double number) {
  if (!std::isfinite(number)) return "null";
  double size = std::abs(number);
  bool plain = size == 0 || (size >= 1e-5 && size < 1e16);
  char text[64];
  auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  std::string digits(text, std::to_chars(text, text + sizeof text, number, format).ptr);
  if (plain) return digits.find('.') == digits.npos ? digits + ".0" : digits;
  // "1e+16" and "1e-07" become 1e16 and 1e-7.
  size_t exponent = digits.find('e') + 1;
  if (digits[exponent] == '+') {
    digits.erase(exponent, 1);
  } else {
    ++exponent;
  }
  if (digits[exponent] == '0') digits.erase(exponent, 1);
  return digits;
}

}  // namespace debrief::outputs::tlparse_tree
