// The text dynamo_cpp_guards_str: a tree of managers, which reach a thing, and guards, which check
// it.
//
//   TREE_GUARD_MANAGER:
//   +- RootGuardManager
//   | +- GLOBAL_STATE: ___check_global_state()
//   | +- GuardManager: source=L['x'], accessed_by=..., type=<class 'torch.Tensor'>
//   | | +- TENSOR_MATCH: check_tensor(L['x'], ...)  # return x * k  # train.py:60 in f
//   | | | +- KeyManager: GuardManager: source=list(L['d'].keys())[0]
//
//   Guard latency = 49.08 us
//
// Two bytes a level. The source of a guard is that of the manager above it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"

namespace debrief::analyses::compile_guards {

// Views into the text.
struct Guard {
  std::string_view kind, guard, source;
  std::string_view code, file, function;
  int32_t line = kNone32;
};

struct GuardTree {
  std::vector<Guard> guards;  // in the order of checking
  double check_us = kNoDouble;
};

// Replaces `tree`. One pass; lines that are no guard are left out.
void ParseGuardTree(std::string_view text, GuardTree& tree);

// Splits "check(...)  # code  # file:line in f (HINT: ...)" into the parts of `guard`.
void SplitGuard(std::string_view text, Guard& guard);

}  // namespace debrief::analyses::compile_guards
