// What PyTorch writes about graph breaks and guards, taken apart. Of a break: the same text stands
// in artifacts dynamo_graph_break_reason (with all parts) and in the reasons of restarts and
// failures (from the reason on):
//
//   Graph break in user code at train.py:32
//   Graph Break Reason: Encountered graph break when attempting to trace CALL: ...
//                                                  empty line; older logs have only "Reason: ..."
//   Failed to trace builtin operator               reason
//     Explanation: Dynamo does not know ...
//     Hint: Avoid calling builtin `print` ...      any number of them
//     Developer debug context: builtin print ...
//    For more details about this graph break, please visit: https://...
//   *** While handling this graph break, another graph break occurred: ***
//   graph break in loop                            also
//     Explanation: ...
//   User code traceback:                           or: from user code:
//     File "train.py", line 32, in forward         outermost first
//       print("here")
//
// Of a frame that is skipped as a whole, where the exception has the reason:
//
//   Graph break: skip: from user code at:          2.14: "Graph break: torch.compile cannot
//   properly
//     File "train.py", line 32, in forward         resume from this graph break, ...", 3 lines
//       raise RuntimeError("here")
//
//   Traceback (most recent call last):
//     ...
//   torch._dynamo.exc.Unsupported: Observed exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"
#include "base/text/strings.h"

namespace debrief {

struct TextFrame {
  std::string_view file;
  std::string_view function;
  std::string_view code;
  int32_t line = 0;
};

// Views into the text that was parsed; empty where it does not tell.
struct BreakText {
  std::string_view reason, explanation, context, link, also;
  std::vector<std::string_view> hints;
  std::vector<TextFrame> frames;  // outermost first
  std::string_view file;          // of "Graph break in user code at"
  int32_t line = 0;
};

// A frame is skipped as a whole: the reason stands behind a traceback.
bool IsSkippedFrame(std::string_view text);

// One pass over the text; never fails: what is not there stays empty.
BreakText ParseBreakText(std::string_view text);

// The frames of a Python traceback, from its first line `File "x.py", line 3, in f` on to the first
// line that is not indented; outermost first.
std::vector<TextFrame> ParseTraceback(std::string_view text);

// A guard and the line of source that needs it, as they are logged:
//
//   ___check_type_id(k, 10731296)  # return x * k  # train.py:60 in f (HINT: type int)
//   guard                            code            file:line in function
struct GuardLine {
  std::string_view guard;
  std::string_view code, file, function;
  int32_t line = kNone32;
};

// Sets what the text tells.
void ParseGuardLine(std::string_view text, GuardLine& guard);

// `frames` as a stack of `pools`, innermost first; kNone when there are none.
StackId AddTextStack(const std::vector<TextFrame>& frames, Pools& pools);

// The reason of a frame that was compiled as often as PyTorch allows, which runs uncompiled from
// then on: "Dynamo recompile limit exceeded", 2.7 "Dynamo cache limit exceeded", before
// "cache_size_limit reached"; in output "torch._dynamo hit config.recompile_limit (8)".
bool NamesRecompileLimit(std::string_view text);

// The same of an exception that PyTorch did not raise: with fullgraph=True its type is
// FailOnRecompileLimitHit (before 2.6 FailOnCacheLimitHit), and it did.
inline bool StaysAtRecompileLimit(std::string_view type, std::string_view reason) {
  return NamesRecompileLimit(reason) && !type.starts_with("FailOn");
}

// "f" of "torch_dynamo_resume_in_f_at_31": the function that a resume function is the rest of; any
// other name as it is.
std::string_view ResumedFunction(std::string_view function);

// A reason in one line: its first, and the second as well when the first only announces it
// ("backend='x' raised:").
std::string ShortReason(std::string_view text);

}  // namespace debrief
