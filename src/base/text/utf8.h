// One step through text that should be UTF-8.
//
// A broken sequence counts as one step of as many bytes as began well (Unicode's "maximal
// subpart"), so that replacing every invalid step by U+FFFD gives what browsers and Python give.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace debrief {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

struct Utf8Step {
  uint8_t bytes = 1;  // at least 1
  bool valid = false;
};

// The step that begins with `text[0]`; `text` is not empty.
inline Utf8Step StepUtf8(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint8_t lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  uint8_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and what lies above U+10FFFF.
  uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (uint8_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
}

// A byte of a character behind its first.
inline bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

// At most `longest` bytes of `text`, whole characters.
inline std::string_view CutBytes(std::string_view text, size_t longest) {
  if (text.size() <= longest) return text;
  while (longest > 0 && IsContinuation(text[longest])) --longest;
  return text.substr(0, longest);
}

// Writes the one to four bytes of a code point at `to`; returns where they end.
inline char* PutUtf8(uint32_t code, char* to) {
  auto put = [&](uint32_t byte) { *to++ = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
  return to;
}

// Likewise at the end of `text`; what is no character becomes U+FFFD.
inline void AppendUtf8(uint32_t code, std::string& text) {
  if ((code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) code = 0xFFFD;
  char bytes[4];
  text.append(bytes, PutUtf8(code, bytes));
}

// The number of exactly `digits` hexadecimal digits that `text` begins with, as escapes have them.
inline std::optional<uint32_t> ParseHex(std::string_view text, size_t digits) {
  if (text.size() < digits) return std::nullopt;
  uint32_t value = 0;
  const char* end = text.data() + digits;
  const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace debrief
