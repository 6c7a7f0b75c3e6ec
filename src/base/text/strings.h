// What the standard library lacks for views of text.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace debrief {

// Of ASCII, whatever the locale.
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
inline bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
inline bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool IsAlphabetic(char c) { return IsLower(c) || IsUpper(c); }
inline bool IsAlphanumeric(char c) { return IsAlphabetic(c) || IsDigit(c); }
inline char LowerCase(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
inline char UpperCase(char c) { return IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

inline bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// `words` is any range of texts, also a list in braces.
template <typename Words = std::initializer_list<std::string_view>>
bool ContainsAny(std::string_view text, const Words& words) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return Contains(text, word); });
}
template <typename Words = std::initializer_list<std::string_view>>
bool StartsWithAny(std::string_view text, const Words& words) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return text.starts_with(word); });
}
template <typename Words = std::initializer_list<std::string_view>>
bool IsOneOf(std::string_view text, const Words& words) {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

// One or more digits and nothing else.
inline bool IsAllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

// The number that all of `text` is.
template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}
template <std::integral T>
std::optional<T> ParseNumber(std::string_view text, int base) {
  T number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

// Without any of `blanks` at both ends.
inline std::string_view Trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
  size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// The text before its first line end.
inline std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

// The last part of a path: "train.py" of "/home/me/train.py".
inline std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace debrief
