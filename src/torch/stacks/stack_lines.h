// The lines of which printed stacks consist, one by one; torch/stacks/stack_text.h puts them
// together.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "torch/stacks/stack_text.h"

namespace debrief::stack_lines {

// The text between `before` and `after`; nothing when the line does not begin with `before` or has
// no `after` behind it.
std::optional<std::string_view> Between(std::string_view line, std::string_view before,
                                        std::string_view after);

// The whole number at the start of `text`.
std::optional<int64_t> LeadingNumber(std::string_view text);

// "=== Rank 5: http://n07:41233/handler/dump_traceback? ===".
struct RankHeader {
  int32_t rank = kNone32;
  std::string_view host;
  std::string_view handler;  // dump_traceback, pyspy_dump, ...
};
std::optional<RankHeader> ParseRankHeader(std::string_view line);

// `  File "f", line n in func` of faulthandler, with a comma before `in` that of py-bt.
std::optional<StackFrame> ParseFileFrame(std::string_view line);

// `    func (file:line)`, `    symbol (lib.so)` of py-spy.
std::optional<StackFrame> ParsePySpyFrame(std::string_view line);

// `    (Python) File "f", line n, in func`, `    (C) File "f", line n, in symbol (lib)`.
std::optional<StackFrame> ParsePystackFrame(std::string_view line);

// `#1  0x00007f in func (args) from lib`, `#2 func (args) at f.c:12`,
// `#3 Frame 0x7f, for file f, line n, in func (..)`.
std::optional<StackFrame> ParseGdbFrame(std::string_view line);

// What faulthandler prints in place of frames: `  <no Python frame>`, `  ...`.
bool IsFrameRemark(std::string_view line);

// The rank that a command line tells: --rank 3, --local_rank=3, RANK=3. kNone32 when it does not.
int32_t RankOfCommand(std::string_view command);

// The rank in a line that somebody put above the stacks of a rank: "=== rank 3 (pid 456) ===".
int32_t RankOfHeading(std::string_view line);

}  // namespace debrief::stack_lines
