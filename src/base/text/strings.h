// What the standard library lacks for views of text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace debrief {

// Of ASCII, whatever the locale.
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

inline bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The number that all of `text` is.
template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
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
