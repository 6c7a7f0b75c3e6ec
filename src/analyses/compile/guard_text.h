// What a failed guard says. PyTorch logs, for each compilation that was tried and did not fit:
//
//   4/1: ___check_type_id(k, 10731296), type=<class 'int'>  # return x * k  # train.py:60 in f
//   (HINT: type int)
//   `--'  `----------------------------------------------'    `----------'    `----------------'
//   whose guard     the guard                                 code            place; what follows
//   may be
//                                                             cut at its front
//   User stack trace:
//     File "/home/me/train.py", line 60, in f
//       return x * k
//
// or, for tensors, a sentence: "tensor 'x' size mismatch at index 1. expected 64, actual 48". Names
// of locals are stripped: L['x'] is logged as x. What follows is known of the guards of PyTorch
// 2.0 to 2.11; a guard of no known form keeps its text and has kind "other".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyses/compile/break_text.h"
#include "base/pools/ids.h"

namespace debrief::analyses::compile_recompiles {

struct FailedGuard : GuardLine {
  std::string_view previous_id;  // "4/1"; empty when the log does not tell
};

// Views into `reason`.
FailedGuard ParseReason(std::string_view reason);

struct Change {
  std::string_view kind = "other";
  std::string name;  // as logged, "x"; empty when it is about no expression
  int32_t dimension = kNone32;
  std::string old_value, new_value;  // empty when the guard does not tell
};

// One pass over `guard` for each known form.
Change ParseGuard(std::string_view guard);

// "x.p['a']" as the guards have it: "L['x'].p['a']".
std::string ToSource(std::string_view name);

// "<class 'int'>" is int; what is no class stays as it is.
std::string_view ClassName(std::string_view type);

// The change in words: "size of x at dimension 1 was 64, now 48".
std::string InWords(const Change& change, std::string_view guard);

// What to do about a change of `function`, which is called at `call` (empty when not known).
struct Advice {
  std::string_view function;
  std::string call;    // "train.py:30"
  std::string symbol;  // that stands for it from now on; empty when it stays constant
  bool is_parameter = false;
};
std::string NextStep(const Change& change, const Advice& advice);

}  // namespace debrief::analyses::compile_recompiles
