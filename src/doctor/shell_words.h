// Commands of a shell script as lists of words: quotes, comments, continued lines. No shell: what
// loops, functions and substitutions would do is not found out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace debrief::doctor {

struct ShellCommand {
  std::vector<std::string> words;  // without their quotes; "$NAME" stays
  int64_t line = 0;                // where it begins, from 1
};

std::vector<ShellCommand> SplitScript(std::string_view text);

}  // namespace debrief::doctor
