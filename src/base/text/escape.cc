// One loop serves all formats: find the next byte that is special, append what stands before it,
// let the format append the special one. The search for JSON, the format of large payloads, looks
// at 32 bytes at a time; the others look up one byte at a time.
#include "base/text/escape.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text/strings.h"
#include "base/text/utf8.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace debrief {

namespace {

using ByteSet = std::array<bool, 256>;

// `bytes`, all control characters and all bytes of multi-byte sequences.
constexpr ByteSet SpecialBytes(std::string_view bytes) {
  ByteSet set{};
  for (size_t byte = 0; byte < 256; ++byte) set[byte] = byte < 0x20 || byte >= 0x7F;
  for (char byte : bytes) set[static_cast<uint8_t>(byte)] = true;
  return set;
}

constexpr ByteSet kHtmlSpecial = SpecialBytes("&<>\"'");
constexpr ByteSet kJsonSpecial = SpecialBytes("\"\\<");
constexpr ByteSet kMarkdownSpecial = SpecialBytes("\\`*_[]{}|~#!&<>@:$");

size_t FindIn(const ByteSet& set, std::string_view text, size_t from) {
  while (from < text.size() && !set[static_cast<uint8_t>(text[from])]) ++from;
  return from;
}

#ifdef __AVX2__
// Bit i is set when byte i of the 32 at `data` is in kJsonSpecial.
uint32_t JsonSpecialMask(const char* data) {
  __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
  auto is = [&](char c) { return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c)); };
  // As signed numbers, control characters and bytes from 0x80 on are all below the space.
  __m256i below_space = _mm256_cmpgt_epi8(_mm256_set1_epi8(' '), bytes);
  __m256i marks =
      _mm256_or_si256(_mm256_or_si256(is('"'), is('\\')), _mm256_or_si256(is('<'), is('\x7F')));
  return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_or_si256(below_space, marks)));
}
#endif

size_t FindJsonSpecial(std::string_view text, size_t from) {
#ifdef __AVX2__
  for (; from + 32 <= text.size(); from += 32) {
    if (uint32_t mask = JsonSpecialMask(text.data() + from); mask != 0) {
      return from + static_cast<size_t>(__builtin_ctz(mask));
    }
  }
#endif
  return FindIn(kJsonSpecial, text, from);
}

// `find` gives the next special place; `special` appends what stands there and returns its length.
template <typename Find, typename Special>
void AppendEscaped(std::string& out, std::string_view text, Find find, Special special) {
  for (size_t at = 0; at < text.size();) {
    size_t next = find(text, at);
    out.append(text, at, next - at);
    at = next;
    if (at < text.size()) at += special(text.substr(at));
  }
}

// Appends a multi-byte sequence, or U+FFFD for a broken one.
size_t AppendMultiByte(std::string& out, std::string_view text) {
  Utf8Step step = StepUtf8(text);
  out.append(step.valid ? text.substr(0, step.bytes) : kReplacementCharacter);
  return step.bytes;
}

// What stands for one of `from`; empty for any other byte.
template <size_t kCount>
std::string_view Replacement(std::string_view from, const std::string_view (&to)[kCount], char c) {
  const size_t at = from.find(c);
  return at == std::string_view::npos ? std::string_view() : to[at];
}

size_t AppendHtmlSpecial(std::string& out, std::string_view text) {
  static constexpr std::string_view kTo[] = {"&amp;", "&lt;", "&gt;", "&quot;",
                                             "&#39;", "\t",   "\n",   "\r"};
  const std::string_view to = Replacement("&<>\"'\t\n\r", kTo, text[0]);
  if (to.empty() && static_cast<uint8_t>(text[0]) >= 0x80) return AppendMultiByte(out, text);
  out += to.empty() ? kReplacementCharacter : to;
  return 1;
}

size_t AppendJsonSpecial(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  static constexpr std::string_view kTo[] = {"\\\"", "\\\\", "\\n", "\\r", "\\t"};
  const auto byte = static_cast<uint8_t>(text[0]);
  if (byte < 0x80) {
    const std::string_view to = Replacement("\"\\\n\r\t", kTo, text[0]);
    out += to.empty() ? "\\u00" : to;
    if (to.empty()) out += {kHex[byte >> 4], kHex[byte & 15]};
    return 1;
  }
  if (text.starts_with("\xE2\x80\xA8") || text.starts_with("\xE2\x80\xA9")) {
    out += text[2] == '\xA8' ? "\\u2028" : "\\u2029";
    return 3;
  }
  return AppendMultiByte(out, text);
}

// An underscore with letters or digits on both sides does not emphasise.
bool IsInsideWord(std::string_view text, size_t at) {
  return at > 0 && at + 1 < text.size() && IsAlphanumeric(text[at - 1]) &&
         IsAlphanumeric(text[at + 1]);
}

// `rest` is the end of `text`; returns how many bytes of it were appended.
size_t AppendMarkdownSpecial(std::string& out, std::string_view text, std::string_view rest) {
  static constexpr std::string_view kTo[] = {" ", " ", " ", "&amp;", "&lt;", "&gt;", "&#64;"};
  const char c = rest[0];
  if (static_cast<uint8_t>(c) >= 0x80) return AppendMultiByte(out, rest);
  const std::string_view to = Replacement("\n\r\t&<>@", kTo, c);
  if (!to.empty()) {
    out += to;
  } else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F) {
    out += kReplacementCharacter;
  } else if (c == ':') {
    out += rest.starts_with("://") ? "&#58;" : ":";
  } else if (c == '_' && IsInsideWord(text, text.size() - rest.size())) {
    out += '_';
  } else {
    out += '\\';
    out += c;
  }
  return 1;
}

// What begins with "-", "+" or "12. " would be a list in a list.
void EscapeListMark(std::string& out, size_t start) {
  size_t at = start;
  while (at < out.size() && out[at] >= '0' && out[at] <= '9') ++at;
  if (at == out.size()) return;
  bool ends = at + 1 == out.size() || out[at + 1] == ' ';
  bool numbered = at > start && (out[at] == '.' || out[at] == ')') && ends;
  bool marked = at == start && (out[at] == '-' || out[at] == '+');
  if (numbered || marked) out.insert(at, 1, '\\');
}

size_t LongestRun(std::string_view text, char of) {
  size_t longest = 0, run = 0;
  for (char c : text) {
    run = c == of ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

void AppendHtml(std::string& out, std::string_view text) {
  AppendEscaped(
      out, text, [](std::string_view all, size_t from) { return FindIn(kHtmlSpecial, all, from); },
      [&](std::string_view rest) { return AppendHtmlSpecial(out, rest); });
}

void AppendJson(std::string& out, std::string_view text) {
  AppendEscaped(out, text, FindJsonSpecial,
                [&](std::string_view rest) { return AppendJsonSpecial(out, rest); });
}

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  AppendJson(out, text);
  out += '"';
}

std::string_view CsvGuard(std::string_view text) {
  constexpr std::string_view kFormulas = "=+-@\t\r";
  if (text.empty() || kFormulas.find(text[0]) == std::string_view::npos) return "";
  const bool has_sign = text[0] == '-' || text[0] == '+';
  return has_sign && ParseNumber<double>(text.substr(1)) ? "" : "'";
}

void AppendCsv(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out.append(CsvGuard(text)).append(text);
    return;
  }
  out.append("\"").append(CsvGuard(text));
  AppendEscaped(
      out, text,
      [](std::string_view all, size_t from) { return std::min(all.find('"', from), all.size()); },
      [&](std::string_view) {
        out += "\"\"";
        return size_t{1};
      });
  out += '"';
}

void AppendMarkdown(std::string& out, std::string_view text) {
  size_t start = out.size();
  AppendEscaped(
      out, text,
      [](std::string_view all, size_t from) { return FindIn(kMarkdownSpecial, all, from); },
      [&](std::string_view rest) { return AppendMarkdownSpecial(out, text, rest); });
  EscapeListMark(out, start);
}

void AppendMarkdownCode(std::string& out, std::string_view text) {
  std::string clean;
  for (size_t at = 0; at < text.size();) {
    std::string_view rest = text.substr(at);
    auto byte = static_cast<uint8_t>(rest[0]);
    if (byte >= 0x7F) {
      at += AppendMultiByte(clean, rest);
      continue;
    }
    clean += byte < 0x20 ? ' ' : rest[0];
    ++at;
  }
  std::string fence(LongestRun(clean, '`') + 1, '`');
  bool pad = clean.empty() || clean.front() == '`' || clean.back() == '`';
  std::string_view blank = pad ? " " : "";
  out.append(fence).append(blank).append(clean).append(blank).append(fence);
}

std::string ValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  auto find = [](std::string_view all, size_t from) {
    while (from < all.size() && static_cast<uint8_t>(all[from]) < 0x80) ++from;
    return from;
  };
  AppendEscaped(out, text, find, [&](std::string_view rest) { return AppendMultiByte(out, rest); });
  return out;
}

}  // namespace debrief
