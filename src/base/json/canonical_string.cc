#include "base/json/canonical_string.h"

#include "base/text/utf8.h"

namespace debrief::json_canonical {

namespace {

// The number of the four digits behind "\\u".
int32_t TakeHex4(std::string_view& raw) {
  const std::optional<uint32_t> value = ParseHex(raw, 4);
  if (!value) return kBadEscape;
  raw.remove_prefix(4);
  return static_cast<int32_t>(*value);
}

int32_t TakeUnicodeEscape(std::string_view& raw) {
  const int32_t first = TakeHex4(raw);
  if (first < 0xD800 || first > 0xDFFF) return first;
  if (first > 0xDBFF || !raw.starts_with("\\u")) return kBadEscape;
  raw.remove_prefix(2);
  const int32_t second = TakeHex4(raw);
  if (second < 0xDC00 || second > 0xDFFF) return kBadEscape;
  return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
}

}  // namespace

int32_t TakeEscape(std::string_view& raw) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  if (raw.size() < 2) return kBadEscape;
  const char name = raw[1];
  raw.remove_prefix(2);
  if (name == 'u') return TakeUnicodeEscape(raw);
  const size_t index = kNames.find(name);
  return index == std::string_view::npos ? kBadEscape : kValues[index];
}

char* PutEscaped(uint8_t byte, char* to) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kNames = "btn_fr";  // of 8 to 13; 11 has none
  if (byte == '"' || byte == '\\') {
    *to++ = '\\';
  } else if (byte >= 8 && byte <= 13 && byte != 11) {
    *to++ = '\\';
    byte = static_cast<uint8_t>(kNames[byte - 8u]);
  } else if (byte < 0x20) {
    to = Put(to, "\\u00");
    *to++ = kHex[byte >> 4];
    byte = static_cast<uint8_t>(kHex[byte & 0xF]);
  }
  *to++ = static_cast<char>(byte);
  return to;
}

}  // namespace debrief::json_canonical
