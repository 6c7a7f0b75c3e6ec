// The modules that the guards of a compilation reach, with their classes: the only place where logs
// of PyTorch 2.6 to 2.14 name modules without parameters.
//
//   | | +- GuardManager: source=L['self']._modules['act'], accessed_by=DictGetItemGuardAccessor(
//   'act'), type=<class 'torch.nn.modules.activation.ReLU'>, tag_safe=(False, False)
//
// One pass over the text of dynamo_cpp_guards_str.
#pragma once

#include <string_view>
#include <vector>

#include "analyses/compile/modules/module_stacks.h"

namespace debrief::analyses::compile_modules {

// A module stands behind the one around it. Of L['self'] alone it is not told that it is a module:
// a local variable may be anything.
std::vector<StackModule> ParseGuardedModules(std::string_view text);

}  // namespace debrief::analyses::compile_modules
