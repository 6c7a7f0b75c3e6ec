#include "app/shell_word.h"

#include <algorithm>

#include "base/text/scan.h"

namespace debrief {

std::string ShellWord(std::string_view text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return IsWord(c) || std::string_view("./-+,").find(c) != std::string_view::npos;
  });
  if (is_plain && !text.empty()) return std::string(text);
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace debrief
