#include "compat/tlparse/rust_text.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace debrief::outputs::tlparse_tree {

namespace {

void AppendEscaped(char c, std::string& out) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  if (const size_t at = kEscaped.find(c); at != std::string_view::npos) {
    (out += '\\') += kLetters[at];
  } else if (static_cast<unsigned char>(c) >= 0x20) {
    out += c;
  } else {
    out += fmt::format("\\u{:04x}", c);
  }
}

template <typename Word>
Word TakeWord(std::string_view& bytes) {
  static_assert(std::endian::native == std::endian::little);
  Word word;
  std::memcpy(&word, bytes.data(), sizeof word);
  bytes.remove_prefix(sizeof word);
  return word;
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
  if (plain) return digits.find('.') == std::string_view::npos ? digits + ".0" : digits;
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

void FxHash::AddWord(uint64_t word) {
  hash_ = (std::rotl(hash_, 5) ^ word) * uint64_t{0x517cc1b727220a95};
}

void FxHash::AddText(std::string_view text) {
  while (text.size() >= 8) AddWord(TakeWord<uint64_t>(text));
  if (text.size() >= 4) AddWord(TakeWord<uint32_t>(text));
  while (!text.empty()) AddWord(TakeWord<uint8_t>(text));
  AddWord(0xff);
}

}  // namespace debrief::outputs::tlparse_tree
