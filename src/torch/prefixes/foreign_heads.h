// What a service, a shell pipe or a person put before every line, in a form that nobody listed:
//
//   2026-11-15 23:22:09.977 [177/train/578 (pid 28936)] Traceback (most recent call last):
//   2026-11-15 23:22:09.977 [177/train/578 (pid 28936)]   File "train.py", line 7, in <module>
//   18:19:06.687 [rank2]:[E1115 18:19:06.383067836 ProcessGroupNCCL.cpp:632] ...
//   stderr: Traceback (most recent call last):
//   > Traceback (most recent call last):
//
// Programs begin some lines in the first column. Where such lines stand behind something, and the
// lines around them behind the same but for its digits, that is a head.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torch/prefixes/line_prefix.h"

namespace debrief {

// The forms of the heads of a text; a run of digits is one zero in them.
std::vector<std::string> FindForeignHeads(std::string_view text, const PrefixStyle& style);

// Takes a head of one of `forms` off; the time and the process that it tells are kept.
bool TakeForeignHead(PeeledLine& line, const std::vector<std::string>& forms);

}  // namespace debrief
