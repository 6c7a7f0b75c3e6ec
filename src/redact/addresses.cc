#include "redact/addresses.h"

#include <algorithm>
#include <cstdint>

#include "base/text/scan.h"
#include "base/text/strings.h"

namespace debrief::redact {

namespace {

bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// "1.2.3.4" at the start of `text`, whatever is around it.
size_t FourNumbers(std::string_view text) {
  size_t at = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (at >= text.size() || text[at] != '.') return 0;
      ++at;
    }
    int value = 0;
    const size_t begin = at;
    while (at < text.size() && IsDigit(text[at]) && at - begin < 4)
      value = value * 10 + (text[at++] - '0');
    const bool is_octet =
        at > begin && at - begin <= 3 && value <= 255 && (at - begin == 1 || text[begin] != '0');
    if (!is_octet) return 0;
  }
  return at;
}

// nvidia-cublas-cu12==12.4.5.8, driver version 550.54.15.1, v1.2.3.4
bool IsVersion(std::string_view before, std::string_view behind) {
  for (std::string_view mark : {"==", ">=", "<=", "~=", "ersion ", "ersion: ", "v", "cudnn "}) {
    if (before.ends_with(mark)) return true;
  }
  return before.ends_with('-') && behind.starts_with("-py");
}

// Groups of hexadecimal digits with colons between.
struct Groups {
  size_t length = 0;
  size_t groups = 0;
  bool has_gap = false;  // ::
  bool has_digit = false;
  bool starts_long = false;  // the first group has four digits
};

Groups TakeGroups(std::string_view text) {
  Groups found;
  size_t at = 0;
  if (text.starts_with("::")) {
    found.has_gap = true;
    at = 2;
  }
  while (at < text.size() && found.groups < 8) {
    if (const size_t four = FourNumbers(text.substr(at)); four > 0) {
      found.groups += 2;
      at += four;
      found.has_digit = true;
      break;
    }
    size_t end = at;
    while (end < text.size() && IsHexDigit(text[end]) && end - at < 5) {
      found.has_digit |= IsDigit(text[end]);
      ++end;
    }
    if (end == at || end - at > 4) break;
    if (found.groups++ == 0) found.starts_long = end - at == 4;
    at = end;
    if (at >= text.size() || text[at] != ':') break;
    const bool is_gap = text.substr(at).starts_with("::");
    if (is_gap && found.has_gap) break;
    // A colon that no group follows is the text's own: "fe80::1: not reachable".
    const size_t next = at + (is_gap ? 2 : 1);
    if (!is_gap && (next >= text.size() || !IsHexDigit(text[next]))) break;
    found.has_gap |= is_gap;
    at = next;
  }
  found.length = at;
  return found;
}

bool IsWordBefore(std::string_view text, size_t at) {
  if (at == 0) return false;
  const char before = text[at - 1];
  // "[rank1]:fe80::1" has a colon before it that is not its own.
  if (before == ':') return at < 2 || IsWord(text[at - 2]) || text[at - 2] == ':';
  return IsWord(before) || before == '.';
}

}  // namespace

size_t IPv4At(std::string_view text, size_t at) {
  if (at > 0 && (IsWord(text[at - 1]) || text[at - 1] == '.') && text[at - 1] != '_') return 0;
  const std::string_view rest = text.substr(at);
  const size_t length = FourNumbers(rest);
  if (length == 0) return 0;
  const std::string_view behind = rest.substr(length);
  if (!behind.empty() && IsAlphanumeric(behind[0])) return 0;
  if (behind.size() > 1 && behind[0] == '.' && IsDigit(behind[1])) return 0;
  const bool is_common =
      rest.starts_with("127.") || rest.starts_with("0.") || rest.starts_with("255.");
  return is_common || IsVersion(text.substr(0, at), behind) ? 0 : length;
}

size_t IPv6At(std::string_view text, size_t at) {
  if (IsWordBefore(text, at)) return 0;
  const std::string_view rest = text.substr(at);
  const Groups found = TakeGroups(rest);
  if (found.length < rest.size() && IsWord(rest[found.length])) return 0;
  // C++ has a::b, clocks have 12:34:56; both have fewer groups or no gap.
  const size_t least = found.starts_long ? 2 : 3;
  const bool is_whole =
      found.has_gap ? found.groups >= least && found.groups < 8 : found.groups == 8;
  return is_whole && found.has_digit ? found.length : 0;
}

bool IsLocalPartByte(char c) {
  return IsWord(c) || c == '.' || c == '%' || c == '+' || c == '-' ||
         static_cast<uint8_t>(c) >= 0x80;
}

size_t EmailAt(std::string_view text, size_t at) {
  constexpr size_t kLongest = 64;
  size_t end = at;
  while (end < text.size() && IsLocalPartByte(text[end]) && end - at < kLongest) ++end;
  if (end == at || end >= text.size() || text[end] != '@') return 0;
  const size_t domain = ++end;
  size_t dot = 0;
  while (end < text.size() && (IsWord(text[end]) || text[end] == '-' || text[end] == '.')) {
    if (text[end] == '.') dot = end;
    ++end;
  }
  while (end > domain && (text[end - 1] == '.' || text[end - 1] == '-')) --end;
  if (dot >= end) dot = text.substr(0, end).rfind('.');
  const bool has_top =
      dot > domain && dot + 3 <= end && IsAlphabetic(text[dot + 1]) && IsAlphabetic(text[dot + 2]);
  return has_top ? end - at : 0;
}

size_t CredentialsAt(std::string_view text, size_t at) {
  constexpr size_t kLongest = 1024;
  const std::string_view rest = text.substr(at, kLongest);
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t\r\n\"'<>`"));
  const std::string_view authority = word.substr(0, word.find_first_of("/?#"));
  if (const size_t sign = authority.rfind('@'); sign != std::string_view::npos) return sign;
  // A password may hold a slash that nobody escaped; a port may not.
  const size_t sign = word.rfind('@'), colon = authority.find(':');
  if (sign == std::string_view::npos || colon == std::string_view::npos || sign < colon) return 0;
  const std::string_view behind = authority.substr(colon + 1);
  const bool is_port =
      !behind.empty() && behind.find_first_not_of("0123456789") == std::string_view::npos;
  return is_port ? 0 : sign;
}

}  // namespace debrief::redact
